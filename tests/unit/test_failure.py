import signal
import threading

from attnkernel import failure


def test_a_request_to_end_waits_for_no_lock_that_the_interrupted_thread_holds():
    lock, heard = threading.Lock(), threading.Event()

    def handler(*_):
        with lock:
            heard.set()

    before = signal.signal(signal.SIGTERM, handler)
    try:
        failure.heed_termination()
        with lock:
            signal.raise_signal(signal.SIGTERM)
            assert not heard.is_set()
        assert heard.wait(10)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_nobody_waits_for_a_timer_when_the_work_is_done():
    timer = threading.Timer(600, print)
    timer.start()
    failure.wait_no_longer()
    timer.join(10)
    assert not timer.is_alive()
