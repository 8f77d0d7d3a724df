"""The laboratory in a real browser: what it shows is what the tables hold."""

import base64
import math
import re
from itertools import pairwise
from urllib.parse import urlencode

import numpy as np
import pytest

from attnkernel.corpus import tokens
from attnkernel.language.cache import cache_probabilities

DIGITS = {"risk": 4, "bias2": 4, "variance": 4, "gain1": 3}
TEXT = "The net income rose. Mr. Smith's net income of 3,500.5 fell; net income of the company ﬁnally rose.\nThe end"
HOSTILE = "<img src=x onerror=alert(1)> <script>alert(2)</script> & &amp; <b>net</b> income </textarea>"


def readout(page, name):
    return page.text_content(f"#circle-{name}")


def rows_of(table, setting):
    here = (table["spectrum"] == setting["spectrum"]) & (table["n"] == setting["n"])
    return {name: column[here] for name, column in table.items()}


def check_circle(page, laboratory, setting, index):
    curve, optimum, trained = (
        rows_of(laboratory.tables[name], setting) for name in ("risk_curve", "optimum", "denoiser")
    )
    assert float(readout(page, "c")) == curve["c"][index]
    for name, digits in DIGITS.items():
        assert readout(page, name) == f"{curve[name][index]:.{digits}f}"
    assert readout(page, "c_star") == f"{optimum['c_star'][0]:.3f}"
    assert readout(page, "risk_star") == f"{optimum['risk'][0]:.4f}"
    assert readout(page, "trained") == f"{trained['learned_c'][0]:.3f}"


def test_the_slider_reads_out_the_tables_in_every_setting(page, laboratory):
    for number, setting in enumerate(laboratory.data["circle"]):
        page.click(f"[data-choices=setting] label:nth-of-type({number + 1})")
        page.focus("#c")
        page.keyboard.press("Home")
        check_circle(page, laboratory, setting, 0)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        check_circle(page, laboratory, setting, 2)
        page.keyboard.press("End")
        check_circle(page, laboratory, setting, len(setting["c"]) - 1)
        page.click("[data-c=optimum]")
        nearest = int(np.flatnonzero(rows_of(laboratory.tables["risk_curve"], setting)["nearest"])[0])
        check_circle(page, laboratory, setting, nearest)
        page.click("[data-c=mean]")
        check_circle(page, laboratory, setting, 0)
        page.click("[data-c=lookup]")
        check_circle(page, laboratory, setting, len(setting["c"]) - 1)


def test_the_slider_can_be_dragged(page, laboratory):
    box = page.locator("#c").bounding_box()
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    check_circle(page, laboratory, laboratory.data["circle"][0], int(page.input_value("#c")))
    assert int(page.input_value("#c")) > 0.6 * len(laboratory.data["circle"][0]["c"])


def test_the_page_smooths_as_the_table_does(page, laboratory):
    smoother = laboratory.tables["smoother"]
    for setting in laboratory.data["circle"]:
        rows = rows_of(smoother, setting)
        for c in np.unique(rows["c"][rows["series"] == "smoothed"]):
            here = (rows["series"] == "smoothed") & (rows["c"] == c)
            arguments = [setting["noisy"], float(c), rows["theta"][here].tolist()]
            ours = page.evaluate("([y, c, at]) => laboratory.smooth(y, c, at)", arguments)
            np.testing.assert_allclose(ours, rows["value"][here], atol=1e-12)


def test_the_gains_that_the_page_draws_are_the_tables(page, laboratory):
    for setting in laboratory.data["circle"]:
        for index in (0, 3, len(setting["c"]) - 1):
            gains = page.evaluate("([n, c]) => laboratory.gains(n, c)", [setting["n"], setting["c"][index]])
            assert gains[0] == pytest.approx(1.0, abs=1e-12)
            assert gains[1] == pytest.approx(setting["gain1"][index], abs=1e-12)
            assert len(gains) == setting["n"] // 2 + 1


def test_charts_are_drawn_and_follow_the_slider(page):
    for name in ("smoother", "gains", "risk", "census"):
        assert page.locator(f"#chart-{name} svg path").count() > 0
    page.click("[data-c=mean]")
    page.wait_for_timeout(100)
    before = page.inner_html("#chart-smoother")
    page.click("[data-c=lookup]")
    page.wait_for_function("before => document.querySelector('#chart-smoother').innerHTML !== before", arg=before)


def facts(page, view="#lookup"):
    pairs = page.eval_on_selector_all(f"{view} [data-fact]", "nodes => nodes.map(n => [n.dataset.fact, n.textContent])")
    return dict(pairs)


def expected_facts(entry, model, t):
    """What the page should say of a token, from the probabilities in the data."""
    kneser_ney, cache = entry["kn"][t], model["cache"][t]
    mixed = kneser_ney if cache is None else model["lambda"] * kneser_ney + (1 - model["lambda"]) * cache
    before, after = (entry["spelling"][t] - math.log2(p) for p in (kneser_ney, mixed))
    copied = sum(entry["code"][j] == entry["code"][t] for j in range(1, t))
    return {
        "token": entry["token"][t],
        "kn": f"{before:.2f}",
        "bits": f"{after:.2f}",
        "saved": f"{abs(before - after):.2f} bits",
        "cache": "nothing precedes" if cache is None else f"{cache:.3f}",
        "copied": str(copied),
    }


def test_clicked_tokens_read_out_the_tables_under_every_model(page, laboratory):
    for number, entry in enumerate(laboratory.data["documents"]):
        page.select_option("#document", str(number))
        length = len(entry["token"])
        for place, model in list(enumerate(entry["models"]))[1:]:
            page.click(f"[data-choices=model] label:nth-of-type({place + 1})")
            assert page.text_content("#document-model") == f"{model['bits_per_character']:.3f}"
            assert page.text_content("#document-kn") == f"{entry['models'][0]['bits_per_character']:.3f}"
            for t in {1, 2, entry["selected"], length // 2, length - 1}:
                page.click(f"#token-{t}")
                shown = facts(page)
                shown.pop("spelling", None)
                assert shown == expected_facts(entry, model, t)
                assert page.locator("#lookup .token.heavy").count() == len(model["positions"][t])
                marked = page.eval_on_selector_all("#lookup .token.copied", "nodes => nodes.map(n => +n.dataset.t)")
                assert marked == [j for j in range(1, t) if entry["code"][j] == entry["code"][t]]
                weights = page.locator("#lookup .heaviest span").all_text_contents()
                assert weights == [f"{weight:.3f}" for weight in model["weights"][t]]


def test_the_selected_token_reads_out_the_table_of_the_laboratory(page, laboratory):
    table = laboratory.tables["laboratory"]
    for number, entry in enumerate(laboratory.data["documents"]):
        page.select_option("#document", str(number))
        for place, model in list(enumerate(entry["models"]))[1:]:
            page.click(f"[data-choices=model] label:nth-of-type({place + 1})")
            row = (table["corpus"] == entry["collection"]) & (table["document"] == entry["name"])
            of_model, of_kn = (row & (table["model"] == key) for key in (model["key"], "kn"))
            shown = facts(page)
            assert shown["token"] == table["token"][of_model][0]
            assert shown["kn"] == f"{table['token_bits'][of_kn][0]:.2f}"
            assert shown["bits"] == f"{table['token_bits'][of_model][0]:.2f}"
            assert shown["cache"] == f"{table['token_cache'][of_model][0]:.3f}"
            assert page.text_content("#document-model") == f"{table['bits_per_character'][of_model][0]:.3f}"


def test_kneser_ney_alone_shades_nothing_and_looks_nowhere(page):
    page.click("[data-choices=model] label:nth-of-type(1)")
    page.click("#token-5")
    assert set(facts(page)) - {"spelling"} == {"token", "kn"}
    assert page.locator("#lookup .token.heavy, #lookup .token.copied").count() == 0
    shades = page.eval_on_selector_all("#lookup .token", "nodes => nodes.map(n => n.style.getPropertyValue('--shade'))")
    assert set(shades) == {"0.0%"}


def test_unknown_words_are_italic_and_sentences_end_in_a_sign(page, laboratory):
    entry = laboratory.data["documents"][0]
    page.select_option("#document", "0")
    unknown = page.eval_on_selector_all("#lookup .token.unknown", "nodes => nodes.map(n => +n.dataset.t)")
    assert unknown == [t for t, known in enumerate(entry["known"]) if not known]
    if unknown:
        style = page.eval_on_selector(f"#token-{unknown[0]}", "node => getComputedStyle(node).fontStyle")
        assert style == "italic"
    ends = page.locator("#lookup .token.end").all_text_contents()
    assert ends == ["¶"] * entry["token"].count("</s>")


def test_arrow_keys_move_from_token_to_token_and_sentence_to_sentence(page, laboratory):
    token = laboratory.data["documents"][0]["token"]
    starts = [0, *(t + 1 for t, word in enumerate(token) if word == "</s>" and t + 1 < len(token))]
    page.select_option("#document", "0")
    page.focus("#lookup [role=listbox]")

    def after(key):
        page.keyboard.press(key)
        return page.get_attribute("#lookup [role=listbox]", "aria-activedescendant")

    assert after("Home") == "token-0"
    assert after("ArrowLeft") == "token-0"
    assert after("ArrowRight") == "token-1"
    assert after("ArrowDown") == f"token-{starts[1]}"
    assert after("ArrowDown") == f"token-{starts[2]}"
    assert after("ArrowUp") == f"token-{starts[1]}"
    assert after("End") == f"token-{len(token) - 1}"
    assert page.get_attribute(f"#token-{len(token) - 1}", "aria-selected") == "true"


def test_the_census_shows_published_beside_ours(page, laboratory):
    page.click("#panel-census summary")
    cells = page.locator("#census-rows tr").all()
    assert len(cells) == len(laboratory.data["census"])
    for row, entry in zip(cells, laboratory.data["census"], strict=True):
        _, lag, theirs, ours = row.locator("td").all_text_contents()
        assert int(lag) == entry["lag"]
        for text, exponent in ((theirs, entry["published"]), (ours, entry["ours"])):
            if exponent is None:
                assert text == "–"
            else:
                mantissa, power = text.split("e")
                assert math.log10(float(mantissa)) + int(power) == pytest.approx(exponent, abs=0.003)


def test_pasted_text_is_shown_as_text(page):
    page.fill("#paste", HOSTILE)
    page.wait_for_selector("#yours .token")
    assert page.locator("#yours img, #yours script, #yours b:not(.heaviest b)").count() == 0
    shown = page.locator("#yours .token").all_text_contents()
    assert [word for word in shown if word != "¶"][:3] == ["img", "src", "x"]
    assert page.input_value("#paste") == HOSTILE


def test_the_page_cuts_a_text_as_the_pipeline_does(page):
    samples = [
        TEXT,
        HOSTILE,
        "A\ufeffb\u00adc\u2019s x\u2028y naïve cafe\u0301 U.S. dollars. J. Smith said so! \u201cYes,\u201d he",
        "",
        "...\n\n",
    ]
    for sample in samples:
        ours = page.evaluate(
            "([text, abbreviations]) => laboratory.tokenise(text, true, new Set(abbreviations))",
            [sample, sorted(tokens.ABBREVIATIONS)],
        )
        assert ours == tokens.tokenise(tokens.normalise(sample)[0], lowercase=True)


def test_the_caches_of_a_pasted_text_are_those_of_the_exported_vectors(page, laboratory):
    exported = laboratory.data["text"]
    found = page.evaluate(
        """([source, token, betas]) => {
            const contexts = new laboratory.Contexts(token, new laboratory.Vectors(source));
            return betas.map((beta) => contexts.cache(beta === "∞" ? Infinity : Number(beta)));
        }""",
        [exported, (words := [w for s in tokens.tokenise(TEXT, True) for w in [*s, "</s>"]]), ["0", "2", "∞"]],
    )
    components = np.frombuffer(base64.b64decode(exported["vectors"]), dtype="<i2").reshape(-1, exported["dimensions"])
    row = dict(zip(exported["words"], exported["row"], strict=True))
    types = list(dict.fromkeys(words))
    zero = np.zeros(exported["dimensions"])
    vectors = np.array([components[row[word]] / 32767.0 if word in row else zero for word in types])
    document = np.array([types.index(word) for word in words])
    [expected] = cache_probabilities([document], vectors, vectors, [0.0, 2.0, np.inf])
    ours = np.array([[math.nan if p is None else p for p in cache] for cache in found])
    np.testing.assert_allclose(ours, expected, atol=1e-12)


def test_a_link_restores_the_state(page, laboratory, browser):
    page.click("[data-choices=setting] label:nth-of-type(2)")
    page.click("[data-c=lookup]")
    page.click("[data-choices=model] label:nth-of-type(2)")
    page.click("#token-7")
    page.fill("#paste", TEXT)
    page.wait_for_selector("#yours .token")
    page.click("#own-4")
    page.click("#theme")
    page.wait_for_timeout(400)  # the address follows a little later
    before = [page.url.partition("#")[2], facts(page), facts(page, "#yours"), readout(page, "risk"), readout(page, "c")]
    again = laboratory.opened(browser, "desktop", before[0])
    again.wait_for_timeout(400)
    after = [
        again.url.partition("#")[2],
        facts(again),
        facts(again, "#yours"),
        readout(again, "risk"),
        readout(again, "c"),
    ]
    assert after == before
    assert again.input_value("#paste") == TEXT
    assert again.get_attribute("html", "data-theme") == page.get_attribute("html", "data-theme") == "dark"
    again.context.close()


def test_the_link_is_copied_or_shown_to_be_copied(page):
    shown = []
    page.on("dialog", lambda dialog: (shown.append(dialog.default_value), dialog.accept()))
    page.click("#copy")
    page.wait_for_timeout(300)
    assert shown == [page.url] or page.text_content("#copy") == "Copied"


@pytest.mark.parametrize(
    "state",
    [
        {"setting": "99", "c": "-5", "document": "x", "token": "1e9", "model": "none", "ownModel": "", "theme": "pink"},
        {"c": "nan", "token": "-3", "text": "", "ownToken": "17"},
    ],
)
def test_a_broken_link_opens_the_page_all_the_same(browser, small_laboratory, state):
    page = small_laboratory.opened(browser, "desktop", urlencode(state))
    assert re.fullmatch(r"\d\.\d{4}", readout(page, "risk"))
    assert page.locator("#lookup .token").count() > 10
    assert small_laboratory.complaints == []
    page.context.close()


def test_colours_follow_the_system_and_the_button(browser, small_laboratory):
    paper = "getComputedStyle(document.body).backgroundColor"
    page = small_laboratory.opened(browser, "phone", color_scheme="dark")
    dark = page.evaluate(paper)
    page.click("#theme")
    assert page.evaluate(paper) == "rgb(255, 255, 255)" != dark
    page.emulate_media(color_scheme="light")
    page.click("#theme")
    assert page.evaluate(paper) == dark
    assert small_laboratory.complaints == []
    page.context.close()


def test_nothing_is_wider_than_the_screen(page):
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_every_control_has_a_name_and_every_readout_is_announced(page):
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea, [role=listbox], [role=option]")]
            .filter((node) => node.offsetParent !== null)
            .filter((node) => !(node.getAttribute("aria-label") || node.labels?.length || node.textContent.trim()))
            .map((node) => node.outerHTML)"""
    )
    assert nameless == []
    levels = page.eval_on_selector_all("h1, h2, h3", "nodes => nodes.map(n => +n.tagName[1])")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    for name in ("#circle-risk", "#lookup [data-part=facts]", "#yours [data-part=facts]"):
        assert page.eval_on_selector(name, "node => node.closest('[aria-live]') !== null")
    assert page.get_attribute("#c", "aria-valuetext").startswith("c = ")


def test_the_payload_in_the_open_page_is_the_payload(page, laboratory):
    shown = page.evaluate("JSON.parse(document.getElementById('payload').textContent)")
    assert shown == laboratory.data
