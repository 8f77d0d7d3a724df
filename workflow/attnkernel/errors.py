"""The one exception that means: the user can mend this."""

from __future__ import annotations


class InputError(ValueError):
    """A mistake in what was given to the pipeline: the message names the file, the place and the remedy.

    A job that raises it ends with that message alone, without a traceback.
    """
