"""Private mode: what is asked of whom, before anything is served."""

import base64
import re
import time
from collections.abc import Iterator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from server.app import create_app
from server.middleware import PUBLIC_PATHS, SESSION_PATH, SIGN_IN_ASSETS
from server.settings import Settings
from server.visitors.authenticator import SESSION_AGE, SESSION_COOKIE, Authenticator, password_from_header
from tests.support.running_server import running_server

ROOT = Path(__file__).parents[3]
WORD = "open sésame 开门"
PROXY = "10.0.0.1"
HTML = {"accept": "text/html,application/xhtml+xml"}
STILL: dict[str, Any] = {"sandbox": "off", "gpu": False, "password_limit": "1000000/minute", "secret": "kept"}


def visiting(peer: str = "203.0.113.9", **settings: Any) -> TestClient:
    app = create_app(Settings({}, **{**STILL, **settings}), "tests.support.stand_in_recorder:prepare")
    app.state.services.gallery.scenarios = app.state.services.gallery.scenarios[:1]
    return TestClient(app, base_url="http://127.0.0.1:8000", client=(peer, 50000))


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    own = {"data": str(tmp_path_factory.mktemp("data")), "request_limit": "1000000/minute"}
    with visiting(password=WORD, **own) as client:
        yield client


@pytest.fixture
def client(private: TestClient) -> TestClient:
    private.cookies.clear()
    return private


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def basic(word: str, user: str = "anybody") -> dict[str, str]:
    return {"authorization": "Basic " + base64.b64encode(f"{user}:{word}".encode()).decode()}


def sign_in(client: TestClient, word: str = WORD) -> Any:
    return client.post(SESSION_PATH, json={"password": word})


def test_every_address_but_the_public_ones_asks_for_the_password(client: TestClient) -> None:
    paths = {re.sub(r"\{\w+\}", "7777777777", route.path) for route in client.app.state.routes}  # type: ignore[attr-defined]
    paths |= {
        f"/static/dist/chunks/{way}main.js" for way in ("../", "%2e%2e/", "./../", "a/../../", "..%2f", "%2E%2E%2f./")
    }
    paths |= {"/nothing", "/static/dist/main.js", "/static/dist", "/healthz/", "//healthz", "/-/status", "/embed/x"}
    assert {*PUBLIC_PATHS, SESSION_PATH, "/", "/metrics", "/api/runs", "/s/7777777777.py"} <= paths
    for path in sorted(paths):
        for method in ("GET", "POST", "DELETE", "PUT", "OPTIONS"):
            answer = client.request(method, path, headers={"content-type": "application/json"}, follow_redirects=False)
            if path in PUBLIC_PATHS:
                assert answer.status_code in (200, 405, 503)
            elif path == SESSION_PATH:
                assert answer.status_code in (204, 405, 422)
            else:
                assert code(answer) == (401, "no_password"), (method, path)
                assert answer.headers["cache-control"] == "no-store"
                assert answer.headers["www-authenticate"] == 'Bearer realm="gradbox"'
    assert client.head("/").status_code == 401


def test_a_browser_gets_the_sign_in_page_with_its_assets(client: TestClient) -> None:
    for path in ("/", "/gallery", "/s/7777777777", "/s/7777777777.json", "/api/schema"):
        answer = client.get(path, headers=HTML)
        assert answer.status_code == 401 and 'id="sign-in"' in answer.text and WORD not in answer.text
        assert answer.headers["cache-control"] == "no-store"
        wanted = set(re.findall(r'(?:src|href)="(/static[^"]*)"', answer.text))
        assert wanted == set(SIGN_IN_ASSETS)
    assert "密码" in client.get("/?lang=zh", headers=HTML).text
    assert code(client.get("/gallery", headers={**HTML, "hx-request": "true"})) == (401, "no_password")
    assert code(client.post("/api/runs", json={"source": "x = 1"}, headers=HTML)) == (401, "no_password")


def test_a_session_opens_everything_and_ends(client: TestClient) -> None:
    answer = sign_in(client)
    assert (answer.status_code, answer.content) == (204, b"")
    cookie = SimpleCookie(answer.headers["set-cookie"])[SESSION_COOKIE]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["secure"]) == (True, "Lax", "/", "")
    assert cookie["max-age"] == str(SESSION_AGE)
    page = client.get("/", headers=HTML)
    assert page.status_code == 200 and 'id="sign-out"' in page.text and "private" in page.headers["cache-control"]
    saved_id = client.post("/api/scenarios", json={"source": "x = 1\n"}).json()["id"]
    for path in ("/api/schema", f"/s/{saved_id}.json", f"/embed/{saved_id}"):
        assert client.get(path).headers["cache-control"] == "private, no-cache", path
    assert client.get("/metrics").status_code == 200
    out = client.delete(SESSION_PATH)
    ended = SimpleCookie(out.headers["set-cookie"])[SESSION_COOKIE]
    assert (out.status_code, ended.value, ended["max-age"]) == (204, "", "0")
    assert code(client.get("/api/schema")) == (401, "no_password")


@pytest.mark.parametrize("word", ["", "wrong", WORD[:-1], WORD + " ", WORD.upper(), "\0", "\ud800", "x" * 9000])
def test_a_wrong_password_is_refused(client: TestClient, word: str) -> None:
    body = f'{{"password": "{word}"}}'.encode("utf-8", "backslashreplace").replace(b"\0", b"\\u0000")
    answer = client.post(SESSION_PATH, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (401, 422) and "set-cookie" not in answer.headers
    if "\ud800" not in word:
        assert code(answer) == (401, "wrong_password")
        assert code(client.get("/api/schema", headers=basic(word))) == (401, "no_password")


def test_a_script_sends_the_password_with_each_request(client: TestClient) -> None:
    for headers in (basic(WORD), basic(WORD, ""), {"authorization": "Bearer " + WORD.encode().decode("latin-1")}):
        sent: Any = {name: value.encode("latin-1") for name, value in headers.items()}
        answer = client.get("/api/schema", headers=sent)
        assert answer.status_code == 200 and SESSION_COOKIE not in answer.cookies
        assert client.post("/api/runs", json={"source": "x = 1"}, headers=sent).status_code == 200
        assert 'id="sign-out"' not in client.get("/", headers={**HTML, **sent}).text


@pytest.mark.parametrize(
    ("header", "password"),
    [
        ("Basic " + base64.b64encode(b"u:a:b").decode(), b"a:b"),
        ("basic  " + base64.b64encode(b":p").decode(), b"p"),
        ("Basic " + base64.b64encode(b"p").decode(), b""),
        ("Basic !!", None),
        ("Basic \xe9", None),
        ("Bearer p q ", b"p q"),
        ("BEARER \xc3\xa9", "é".encode()),
        ("Digest x", None),
        ("Basic", b""),
        ("", None),
    ],
)
def test_the_password_is_read_from_an_authorization_header(header: str, password: bytes | None) -> None:
    assert password_from_header(header) == password


def test_a_session_of_another_time_password_or_secret_is_invalid(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 2_000_000_000.0
    monkeypatch.setattr(time, "time", lambda: now)
    value = SimpleCookie(sign_in(client).headers["set-cookie"])[SESSION_COOKIE].value
    issued, signature = value.split(".")

    def opens(cookie: str) -> bool:
        client.cookies.clear()
        return (
            client.get("/api/schema", headers={"cookie": f"other=1; {SESSION_COOKIE}={cookie}; x=2"}).status_code == 200
        )

    assert opens(value)
    forged = [value[:k] + ("1" if value[k] != "1" else "2") + value[k + 1 :] for k in range(len(value))]
    forged += [value[:k] for k in range(len(value))] + [
        f"{int(issued) + 9}.{signature}",
        f".{signature}",
        f"{value}.",
        "",
    ]
    assert not any(opens(cookie) for cookie in forged)
    visitor = client.get("/", headers={**HTML, **basic(WORD)}).cookies["gradbox"]
    assert not opens(visitor)
    scope: dict[str, Any] = {"type": "http", "root_path": "", "headers": []}
    for password, secret in (("another word", b"kept"), (WORD, b"other")):
        other = Authenticator(Settings({}, password=password), secret)
        assert not opens(SimpleCookie(other.session_cookie_header(scope))[SESSION_COOKIE].value)
    same = Authenticator(Settings({}, password=WORD), b"kept")
    assert opens(SimpleCookie(same.session_cookie_header(scope))[SESSION_COOKIE].value)
    monkeypatch.setattr(time, "time", lambda: now + SESSION_AGE - 9)
    assert opens(value)
    monkeypatch.setattr(time, "time", lambda: now + SESSION_AGE + 9)
    assert not opens(value)


def test_wrong_passwords_are_counted_by_address_and_right_ones_are_not(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    data = str(tmp_path_factory.mktemp("data"))
    with visiting(PROXY, password=WORD, password_limit="3/minute", trusted_proxies=PROXY, data=data) as client:

        def status(address: str, word: str, form: str = "basic") -> int:
            forwarded = {"x-forwarded-for": address}
            if form == "basic":
                return int(client.get("/api/schema", headers={**forwarded, **basic(word)}).status_code)
            return int(client.post(SESSION_PATH, json={"password": word}, headers=forwarded).status_code)

        assert [status("198.51.100.1", WORD) for _ in range(9)] == [200] * 9
        session = client.post(SESSION_PATH, json={"password": WORD}, headers={"x-forwarded-for": "198.51.100.1"})
        client.cookies.clear()
        assert [status("198.51.100.1", "wrong", form) for form in ("basic", "form", "basic", "form", "basic")] == [
            401, 401, 401, 429, 429,
        ]  # fmt: skip
        client.cookies.clear()
        assert status("198.51.100.1", WORD) == status("198.51.100.1", WORD, "form") == 429  # nobody learns which it was
        client.cookies.clear()
        limited = client.get("/api/schema", headers={"x-forwarded-for": "198.51.100.1", **basic("wrong")})
        assert code(limited) == (429, "limited") and 0 < int(limited.headers["retry-after"]) <= 60
        assert status("198.51.100.2", WORD) == 200
        assert status("1.1.1.1, 198.51.100.1", WORD) == 429
        signed_in = {"cookie": session.headers["set-cookie"].split(";")[0], "x-forwarded-for": "198.51.100.1"}
        assert client.get("/api/schema", headers=signed_in).status_code == 200
        metrics = client.get("/metrics", headers=signed_in).text
        assert "gradbox_failed_sign_ins_total 3.0" in metrics and 'why="limited"' not in metrics


def test_behind_a_prefix_and_https(tmp_path_factory: pytest.TempPathFactory) -> None:
    settings: dict[str, Any] = {"password": WORD, "public_url": "https://127.0.0.1/box", "trusted_proxies": PROXY}
    with visiting(PROXY, data=str(tmp_path_factory.mktemp("data")), **settings) as client:
        for start in ("", "/box"):
            client.cookies.clear()
            page = client.get(f"{start}/gallery", headers=HTML)
            assert page.status_code == 401 and 'src="/box/static/dist/sign_in.js"' in page.text
            assert (
                client.get(f"{start}/static/dist/sign_in.js").status_code
                == client.get(f"{start}/healthz").status_code
                == 200
            )
            assert code(client.get("/box/box/healthz")) == (401, "no_password")
            answer = client.post(
                f"{start}{SESSION_PATH}", json={"password": WORD}, headers={"x-forwarded-proto": "https"}
            )
            cookie = SimpleCookie(answer.headers["set-cookie"])[SESSION_COOKIE]
            assert (cookie["path"], cookie["secure"]) == ("/box", True)


def test_private_mode_admits_addresses_with_and_without_a_password(tmp_path_factory: pytest.TempPathFactory) -> None:
    settings: dict[str, Any] = {"addresses": "192.0.2.0/24,2001:db8::/32", "trusted_proxies": PROXY}

    def visit(client: TestClient, address: str, **headers: str) -> Any:
        return client.get("/gallery", headers={"x-forwarded-for": address, **headers})

    with visiting(PROXY, data=str(tmp_path_factory.mktemp("data")), **settings) as client:
        for address in ("192.0.2.7", "2001:db8::7", "203.0.113.9, 192.0.2.7"):
            assert visit(client, address).status_code == 200
        for address in ("203.0.113.9", "192.0.2.7, 203.0.113.9", "192.0.2.7, unknown", ""):
            assert code(visit(client, address)) == (403, "wrong_address"), address
        page = visit(client, "203.0.113.9", **HTML)
        assert page.status_code == 403 and 'class="door"' in page.text and "<form" not in page.text
        assert visit(client, "192.0.2.7").headers["cache-control"].startswith("private")
        assert client.get("/healthz").status_code == 200
        assert code(client.post(SESSION_PATH, json={"password": ""}, headers={"x-forwarded-for": "192.0.2.7"})) == (
            404,
            "not_found",
        )
    with visiting(PROXY, data=str(tmp_path_factory.mktemp("data")), password=WORD, **settings) as client:
        assert code(visit(client, "192.0.2.7")) == (401, "no_password")
        assert visit(client, "192.0.2.7", **basic(WORD)).status_code == 200
        assert code(visit(client, "203.0.113.9", **basic(WORD))) == (403, "wrong_address")
        away = client.post(SESSION_PATH, json={"password": WORD}, headers={"x-forwarded-for": "203.0.113.9"})
        assert code(away) == (403, "wrong_address")


def test_a_page_of_another_site_can_not_sign_in_or_out(client: TestClient) -> None:
    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
        assert code(client.post(SESSION_PATH, json={"password": WORD}, headers=headers)) == (403, "cross_site")
        assert code(client.delete(SESSION_PATH, headers=headers)) == (403, "cross_site")


def test_a_server_without_a_password_has_no_sign_in(tmp_path_factory: pytest.TempPathFactory) -> None:
    with visiting(data=str(tmp_path_factory.mktemp("data"))) as client:
        assert code(sign_in(client, "")) == (404, "not_found")
        page = client.get("/", headers=HTML)
        assert page.status_code == 200 and "sign-out" not in page.text and "sign_in.js" not in page.text


@pytest.fixture(scope="module")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a real server that asks for its password."""
    settings = {"PASSWORD": WORD, "PASSWORD_LIMIT": "2/minute", "SANDBOX": "off"}
    with running_server(tmp_path_factory.mktemp("data"), **settings) as address:
        yield address


def test_signing_in_returns_to_the_same_page(page: Any, closed: str) -> None:
    page.goto(f"{closed}/?s=detach#i=3")
    page.fill("[name=password]", "a guess")
    page.keyboard.press("Enter")
    page.wait_for_selector("#sign-in [role=alert]:not([hidden])")
    assert page.inner_text("#sign-in [role=alert]") == "The password is wrong."
    page.click("a[data-keep]")
    page.wait_for_selector("html[lang=zh] #sign-in button:enabled")
    assert page.url == f"{closed}/?s=detach&lang=zh#i=3"
    page.fill("[name=password]", WORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#stage [data-cell]")
    assert page.url.startswith(f"{closed}/?s=detach&lang=zh#") and page.url.endswith("i=3")
    assert page.input_value("#slider") == "3"
    other = page.context.new_page()  # whose console may say what becomes of a run without a session
    other.goto(page.url)
    other.wait_for_selector("#stage [data-cell]")
    session = page.context.cookies()
    page.context.clear_cookies()
    other.click("#run-button")
    other.wait_for_selector("#problem:not([hidden])")
    assert other.inner_text("#problem") == "登录已失效。请刷新页面，重新登录。"
    page.context.add_cookies(session)
    page.goto(f"{closed}/gallery")
    page.click("#sign-out")
    page.wait_for_selector("#sign-in button:enabled")
    assert page.url == f"{closed}/gallery"
    for word, message in (("a guess", "The password is wrong."), ("a guess", "Too many attempts. Try ")):
        page.fill("[name=password]", word)
        page.keyboard.press("Enter")
        page.wait_for_function(
            "(told) => document.querySelector('[role=alert]').textContent.startsWith(told)", arg=message
        )


@pytest.mark.parametrize("width", [320, 390, 1440])
def test_the_sign_in_page_fits_and_is_accessible(page: Any, closed: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 700})
    page.goto(closed)
    page.wait_for_selector("#sign-in button:enabled")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.activeElement.name") == "password"
    page.evaluate((ROOT / "node_modules/axe-core/axe.min.js").read_text())
    violations = page.evaluate("() => axe.run().then((result) => result.violations.map((one) => one.id))")
    assert violations == []
