"""The twins of a permalink: pictures by the page's own code, the offline file, the frame, oEmbed and OpenGraph."""

import json
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.pictures import renderer_client
from server.pictures.renderer_client import Renderer
from server.pictures.renderer_process import Fonts, to_png
from tests.databases import DatabaseFactory
from tests.test_saved_programs import code, saved, visiting

pytest_plugins = ["tests.databases"]

ROOT = Path(__file__).parent.parent
PUBLIC = "https://gradbox.example.org/box"
HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u2028]]>"
PROGRAM = "a = torch.tensor([1., 2.], requires_grad=True)\nb = a.clone()\nb.sum().backward()\n"
SVG = "{http://www.w3.org/2000/svg}"
FREE = {"picture_limit": "100000/minute", "hosts": "127.0.0.1,gradbox.example.org"}

needs_page = pytest.mark.skipif(not (ROOT / "static/dist/exports.js").exists(), reason="the page is not built")
pytestmark = needs_page


@pytest.fixture(scope="module")
def client(new_database: DatabaseFactory) -> Iterator[TestClient]:
    with visiting(new_database("sqlite"), public_url=PUBLIC, **FREE) as client:
        yield client


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def by_node(jobs: list[list[Any]]) -> list[str]:
    told = subprocess.run(["node", "tests/draw.mjs"], input=json.dumps(jobs), capture_output=True, text=True, cwd=ROOT)
    assert told.returncode == 0, told.stderr
    drawn: list[str] = json.loads(told.stdout)
    return drawn


def test_a_picture_is_what_the_stages_own_code_draws(client: TestClient) -> None:
    there = saved(client, source=PROGRAM, title="clone")
    trace = client.get(f"/s/{there.id}.trace.json").json()
    looks = [{"theme": theme, "language": language} for theme in ("light", "dark") for language in ("en", "zh")]
    steps = [0, 1, len(trace["steps"]) - 1]
    expected = by_node([["step", trace, i, look] for i in steps for look in looks])
    expected += by_node([["loom", trace, None, look] for look in looks])
    asked = [f"?step={i}&theme={look['theme']}&lang={look['language']}" for i in steps for look in looks]
    asked += [f"?theme={look['theme']}&lang={look['language']}" for look in looks]
    for query, picture in zip(asked, expected, strict=True):
        answer = client.get(f"/s/{there.id}.svg{query}")
        assert answer.status_code == 200 and answer.headers["content-type"].startswith("image/svg+xml")
        assert answer.text == picture, query


def test_a_picture_speaks_the_scenarios_language(client: TestClient) -> None:
    there = saved(client, source=PROGRAM, language="zh")
    assert 'xml:lang="zh"' in client.get(f"/s/{there.id}.svg?step=1").text
    assert 'xml:lang="en"' in client.get(f"/s/{there.id}.svg?step=1&lang=en").text


def test_a_png_is_the_svg_at_twice_its_size(client: TestClient) -> None:
    there = saved(client, source=PROGRAM)
    for query in ("", "?step=1", "?step=1&theme=dark"):
        root = ET.fromstring(client.get(f"/s/{there.id}.svg{query}").text)
        width, height = (int(root.attrib[name]) for name in ("width", "height"))
        answer = client.get(f"/s/{there.id}.png{query}")
        assert answer.headers["content-type"] == "image/png"
        assert size(answer.content) == (2 * width, 2 * height)
    assert size(client.get(f"/s/{there.id}.card.png").content) == (1200, 630)
    light, dark = (client.get(f"/s/{there.id}.png?step=1&theme={theme}").content for theme in ("light", "dark"))
    assert light != dark


def test_a_heavy_picture_is_painted_on_fewer_pixels() -> None:
    fonts = Fonts("DejaVu Sans", "DejaVu Sans Mono")
    line = '<path d="M0 0L4000 4000"/>'
    for lines, pixels in ((1, 12e6), (100_000, 3e6)):
        picture = f'<svg xmlns="http://www.w3.org/2000/svg" width="4000" height="4000">{line * lines}</svg>'
        width, height = size(to_png(picture, fonts))
        assert 0.99 * pixels < width * height <= 1.01 * pixels


@pytest.mark.parametrize("tail", [".svg", ".png", ".card.png", ".html"])
def test_a_step_that_is_not_there_is_named(client: TestClient, tail: str) -> None:
    there = saved(client, source=PROGRAM)
    count = len(client.get(f"/s/{there.id}.trace.json").json()["steps"])
    answer = client.get(f"/s/{there.id}{tail}?step={count}")
    assert code(answer) == (404, "no_step")
    assert answer.json()["error"]["message"] == f"there is no step {count}; this trace has 0 to {count - 1}"
    assert code(client.get(f"/s/{there.id}{tail}?step=-1"))[0] == 422
    assert code(client.get(f"/s/2222222222{tail}")) == (404, "no_scenario")


def test_a_program_that_was_not_run_has_a_picture_too(client: TestClient) -> None:
    there = saved(client, source="x = torch.load('w.pt')\nprint(x)\n")
    for query in ("", "?lang=zh"):
        texts = [
            one.text or "" for one in ET.fromstring(client.get(f"/s/{there.id}.svg{query}").text).iter(f"{SVG}text")
        ]
        assert "x = torch.load('w.pt')" in texts
        assert any("torch.load" in text and text != "x = torch.load('w.pt')" for text in texts)
    assert code(client.get(f"/s/{there.id}.svg?step=0")) == (404, "no_step")
    assert size(client.get(f"/s/{there.id}.card.png").content) == (1200, 630)
    assert client.get(f"/s/{there.id}.html").status_code == client.get(f"/embed/{there.id}").status_code == 200


def test_an_error_is_told_once_in_its_picture(client: TestClient) -> None:
    there = saved(client, source="x = torch.ones(2)\nx.foo\n")
    step = len(client.get(f"/s/{there.id}.trace.json").json()["steps"]) - 1
    root = ET.fromstring(client.get(f"/s/{there.id}.svg?step={step}").text)
    told = [one.text or "" for one in root.iter(f"{SVG}text") if "AttributeError" in (one.text or "")]
    assert len(told) == 1


def test_a_caption_ends(client: TestClient) -> None:
    there = saved(client, source=f"x = os.{'a' * 50_000}\n")
    root = ET.fromstring(client.get(f"/s/{there.id}.svg?step=0").text)
    assert int(root.attrib["height"]) < 1500
    assert sum((one.text or "").endswith("…") for one in root.iter(f"{SVG}text")) == 1


def test_pictures_are_documents_that_can_do_nothing(client: TestClient) -> None:
    there = saved(client, source=PROGRAM)
    svg = client.get(f"/s/{there.id}.svg")
    assert svg.headers["content-security-policy"] == "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    html = client.get(f"/s/{there.id}.html")
    assert html.headers["content-disposition"] == f'attachment; filename="gradbox-{there.id}.html"'
    assert "sandbox allow-scripts" in html.headers["content-security-policy"]
    for tail in (".svg", ".png", ".card.png", ".html"):
        assert client.get(f"/s/{there.id}{tail}").headers["x-content-type-options"] == "nosniff"
    for tail in (".svg", ".png", ".card.png"):
        assert client.get(f"/s/{there.id}{tail}").headers["cross-origin-resource-policy"] == "cross-origin"


@pytest.mark.parametrize("tail", [".svg", ".png?step=0", ".html", ".card.png"])
def test_who_has_it_is_told_so(client: TestClient, tail: str) -> None:
    there = saved(client, source=PROGRAM)
    answer = client.get(f"/s/{there.id}{tail}")
    again = client.get(f"/s/{there.id}{tail}", headers={"if-none-match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert answer.headers["etag"] != client.get(f"/s/{there.id}.json").headers["etag"], "drawn by a version of the code"


def test_a_removed_one_has_no_twins(new_database: DatabaseFactory) -> None:
    place = new_database("sqlite")
    with visiting(place, public_url=PUBLIC, **FREE) as client:
        there = saved(client, source=PROGRAM)
        assert client.get(f"/s/{there.id}.svg").status_code == 200
        client.portal.call(client.app.state.services.store.remove, there.id)  # type: ignore[union-attr,attr-defined]
        for path in (f"/s/{there.id}.svg", f"/s/{there.id}.card.png", f"/s/{there.id}.html", f"/embed/{there.id}"):
            assert client.get(path).status_code == 410, path
        assert code(client.get(f"/oembed?url={PUBLIC}/s/{there.id}"))[0] == 410


def test_pictures_have_a_limit_and_those_that_are_kept_do_not_count(new_database: DatabaseFactory) -> None:
    with visiting(new_database("sqlite"), public_url=PUBLIC, picture_limit="2/minute") as client:
        there = saved(client, source=PROGRAM)
        for _ in range(5):
            assert client.get(f"/s/{there.id}.svg?step=0").status_code == 200
        assert client.get(f"/s/{there.id}.svg?step=1").status_code == 200
        answer = client.get(f"/s/{there.id}.svg?step=2")
        assert code(answer) == (429, "limited") and int(answer.headers["retry-after"]) > 0
        assert client.get(f"/s/{there.id}.svg?step=1").status_code == 200


# ---- hostile texts


class Tags(HTMLParser):
    """The elements of a page, and the words of its title."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.title, self._inside = "", False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag == "title"

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "title"

    def handle_data(self, data: str) -> None:
        self.title += data if self._inside else ""


@pytest.fixture(scope="module")
def hostile(client: TestClient) -> str:
    words = {"title": HOSTILE, "description": HOSTILE, "note": HOSTILE}
    source = f"x = torch.ones(2)  # {HOSTILE[:-4]}\n名 = x\nprint({HOSTILE!r})\nprint(r'''{HOSTILE[:-4]}''')\n"
    there = saved(client, source=source, **words)
    assert there.title == HOSTILE
    return there.id


def test_hostile_texts_stay_texts_in_pictures(client: TestClient, hostile: str) -> None:
    count = len(client.get(f"/s/{hostile}.trace.json").json()["steps"])
    for query in ["", *(f"?step={i}" for i in range(count))]:
        names = {one.tag.removeprefix(SVG) for one in ET.fromstring(client.get(f"/s/{hostile}.svg{query}").text).iter()}
        assert not names & {"script", "image", "img", "foreignObject", "a", "use", "animate", "set"}
    assert size(client.get(f"/s/{hostile}.card.png").content) == (1200, 630)


@pytest.mark.parametrize("path", ["/s/{}.html", "/embed/{}", "/s/{}"])
def test_hostile_texts_stay_texts_in_pages(client: TestClient, hostile: str, path: str) -> None:
    found = Tags(client.get(path.format(hostile)).text)
    assert not [tag for tag, attrs in found.tags if tag == "img" or "onerror" in attrs]
    assert [tag for tag, _ in found.tags].count("title") == 1
    assert HOSTILE.split("\u2028")[0] in found.title
    for tag, attrs in found.tags:
        if tag == "script":
            assert (
                attrs.get("src", "").startswith("/box/static/")
                or attrs.get("type") == "application/json"
                or attrs.get("nonce")
            )  # type: ignore[union-attr]


def test_hostile_texts_stay_texts_in_oembed_and_opengraph(client: TestClient, hostile: str) -> None:
    told = client.get(f"/oembed?url={PUBLIC}/s/{hostile}").json()
    assert told["title"] == HOSTILE
    frame = Tags(told["html"])
    assert [tag for tag, _ in frame.tags] == ["iframe"] and frame.tags[0][1]["title"] == HOSTILE
    page = Tags(client.get(f"/s/{hostile}").text)
    graph = {attrs.get("property"): attrs.get("content") for tag, attrs in page.tags if tag == "meta"}
    assert graph["og:title"] == graph["og:description"] == HOSTILE


# ---- frames


def test_the_frame_may_stand_where_the_host_says(client: TestClient, new_database: DatabaseFactory) -> None:
    there = saved(client, source=PROGRAM)
    answer = client.get(f"/embed/{there.id}")
    assert answer.headers["content-security-policy"].endswith("frame-ancestors *")
    assert "set-cookie" not in answer.headers
    assert client.get(f"/s/{there.id}").headers["content-security-policy"].endswith("frame-ancestors 'none'")
    with visiting(new_database("sqlite"), frames="https://forum.example.org") as other:
        there = saved(other, source=PROGRAM)
        told = other.get(f"/embed/{there.id}").headers["content-security-policy"]
        assert told.endswith("frame-ancestors https://forum.example.org")
        assert f'href="/s/{there.id}"' in other.get(f"/embed/{there.id}").text


@pytest.mark.parametrize("tail", [".svg", ".png", ".html", "embed"])
def test_who_has_it_is_told_the_same_headers(client: TestClient, tail: str) -> None:
    """A browser takes those of a 304 in place of the ones it has: a frame would be forbidden the next time."""
    there = saved(client, source=PROGRAM)
    path = f"/embed/{there.id}" if tail == "embed" else f"/s/{there.id}{tail}"
    answer = client.get(path)
    again = client.get(path, headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304
    for name in ("content-security-policy", "cross-origin-resource-policy", "cache-control", "etag"):
        assert bare(again.headers[name]) == bare(answer.headers[name]), name


def bare(header: str) -> str:
    """Without what is another each time."""
    return re.sub(r"'nonce-[^']*'", "", header)


def test_a_version_is_of_all_that_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a reader would have the old frame for good: it is told that nothing changed."""
    shutil.copytree(ROOT / "templates", tmp_path / "templates")
    (tmp_path / "static/dist").mkdir(parents=True)
    monkeypatch.setattr(renderer_client, "ROOT", tmp_path)
    versions = [Renderer(1).version]
    for name in ("exports.js", "offline.js", "embed.js", "style.css"):
        shutil.copy(ROOT / "static/dist" / name, tmp_path / "static/dist")
    for name in (
        "static/dist/exports.js",
        "static/dist/embed.js",
        "static/dist/style.css",
        "templates/partials/_offline.html",
        "templates/embed.html",
    ):
        versions.append(Renderer(1).version)
        with (tmp_path / name).open("a") as file:
            file.write("\n")
    versions.append(Renderer(1).version)
    assert versions[0] == "" and len(set(versions)) == 7


def test_the_frame_can_run_and_save_nothing(client: TestClient) -> None:
    there = saved(client, source=PROGRAM, title="clone")
    found = Tags(client.get(f"/embed/{there.id}").text)
    assert "form" not in [tag for tag, _ in found.tags]
    assert [attrs["src"] for tag, attrs in found.tags if tag == "script" and "src" in attrs] == [
        "/box/static/dist/embed.js"
    ]
    assert not {"run-button", "save", "editor"} & {attrs.get("id") for _, attrs in found.tags}


def test_oembed_says_how_large_and_where(client: TestClient) -> None:
    there = saved(client, source=PROGRAM, title="clone & detach")
    url = f"{PUBLIC}/s/{there.id}%23i=2%26v=loom"
    told = client.get(f"/oembed?url={url}&maxwidth=500&maxheight=400&format=json").json()
    assert (told["version"], told["type"], told["width"], told["height"]) == ("1.0", "rich", 500, 400)
    assert told["thumbnail_url"] == f"{PUBLIC}/s/{there.id}.card.png"
    frame = Tags(told["html"]).tags[0][1]
    assert (frame["src"], frame["width"], frame["height"]) == (f"{PUBLIC}/embed/{there.id}#i=2&v=loom", "500", "400")
    page = Tags(client.get(f"/s/{there.id}").text)
    (link,) = [attrs for tag, attrs in page.tags if tag == "link" and attrs.get("type") == "application/json+oembed"]
    assert link["href"] is not None and link["href"].startswith(PUBLIC)
    assert client.get(link["href"].removeprefix(PUBLIC)).json()["title"] == "clone & detach"
    graph = {attrs.get("property"): attrs.get("content") for tag, attrs in page.tags if tag == "meta"}
    assert graph["og:url"] == f"{PUBLIC}/s/{there.id}"
    image = client.get(str(graph["og:image"]).removeprefix(PUBLIC))
    assert size(image.content) == (int(str(graph["og:image:width"])), int(str(graph["og:image:height"])))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://elsewhere.example.org/box/s/7kd5h2n9xt", (404, "not_ours")),
        ("https://gradbox.example.org/s/7kd5h2n9xt", (404, "not_ours")),
        (f"{PUBLIC}evil/s/7kd5h2n9xt", (404, "not_ours")),
        (f"{PUBLIC}/gallery", (404, "not_ours")),
        (f"{PUBLIC}/s/7kd5h2n9xt", (404, "no_scenario")),
        ("http://[", (404, "not_ours")),
        ("", (404, "not_ours")),
    ],
)
def test_oembed_knows_its_own_addresses_alone(client: TestClient, url: str, expected: tuple[int, str]) -> None:
    assert code(client.get("/oembed", params={"url": url})) == expected


@pytest.mark.parametrize("tail", ["", "/", "?lang=zh", "/?lang=zh&utm_source=a"])
@pytest.mark.parametrize("kind", ["s", "embed"])
def test_oembed_knows_a_permalink_however_it_was_copied(client: TestClient, kind: str, tail: str) -> None:
    there = saved(client, source=PROGRAM)
    told = client.get("/oembed", params={"url": f"{PUBLIC}/{kind}/{there.id}{tail}#i=2"}).json()
    assert Tags(told["html"]).tags[0][1]["src"] == f"{PUBLIC}/embed/{there.id}#i=2"


def test_the_parts_of_a_fragment_that_a_frame_takes_are_kept(client: TestClient) -> None:
    there = saved(client, source=PROGRAM)
    told = client.get("/oembed", params={"url": f"{PUBLIC}/s/{there.id}#i=2&at=node%3An1&v=loom&p=abc"}).json()
    assert Tags(told["html"]).tags[0][1]["src"] == f"{PUBLIC}/embed/{there.id}#i=2&at=node%3An1&v=loom"


def test_a_fragment_that_is_none_of_ours_is_left_out(client: TestClient) -> None:
    there = saved(client, source=PROGRAM)
    for fragment in ('i=2"><script>', "p=abc", "i=", "javascript:1"):
        told = client.get("/oembed", params={"url": f"{PUBLIC}/s/{there.id}#{fragment}"}).json()
        assert Tags(told["html"]).tags[0][1]["src"] == f"{PUBLIC}/embed/{there.id}"


def test_a_server_that_knows_no_address_of_its_own_promises_none(new_database: DatabaseFactory) -> None:
    with visiting(new_database("sqlite")) as client:
        there = saved(client, source=PROGRAM, title="clone")
        assert code(client.get(f"/oembed?url=http://127.0.0.1:8000/s/{there.id}")) == (501, "no_address")
        text = client.get(f"/s/{there.id}").text
        assert 'property="og:title" content="clone"' in text
        assert "og:image" not in text and "oembed" not in text and "http://127.0.0.1" not in text
    with visiting(new_database("sqlite"), public_url=PUBLIC, **FREE) as client:
        assert code(client.get(f"/oembed?url={PUBLIC}/s/7kd5h2n9xt&format=xml")) == (501, "not_implemented")


def test_what_is_too_large_for_a_picture_is_cut_and_says_so(client: TestClient) -> None:
    there = saved(client, source="xs = [torch.full((3,), float(i)) for i in range(800)]\ny = xs[750]\ny += 1\n")
    whole = ET.fromstring(client.get(f"/s/{there.id}.svg").text)
    assert whole.attrib["class"] == "stage-svg", "800 storages beside each other are no loom"
    assert "too large for one picture" in "".join(whole.itertext())
    step = ET.fromstring(client.get(f"/s/{there.id}.svg?step=3").text)
    assert int(step.attrib["height"]) < 17_000
    assert "goes on above or below" in "".join(step.itertext())
    cells = {one.attrib["data-cell"]: one.attrib["data-value"] for one in step.iter() if "data-cell" in one.attrib}
    assert len(cells) < 1300 and "751" in cells.values(), "what the step wrote is in the part that is shown"
    assert size(client.get(f"/s/{there.id}.png?step=3").content)[1] <= 16_000
    small = ET.fromstring(client.get(f"/s/{saved(client, source=PROGRAM).id}.svg").text)
    assert small.attrib["class"] == "loom-svg" and "goes on" not in "".join(small.itertext())
