import pytest

from server.pool.remote.shared_broker import SIGNATURE_SIZE, MessageSigner

SECRET = b"s" * 32


@pytest.mark.parametrize("content", [b"", b"{}", b"\n\x00" * 100])
def test_another_process_with_the_secret_reads_what_was_signed(content: bytes) -> None:
    message = MessageSigner(SECRET, b"results").sign("a key", content)
    assert MessageSigner(SECRET, b"results").verify("a key", message) == content


def test_a_message_with_another_key_purpose_or_secret_is_rejected() -> None:
    signer = MessageSigner(SECRET, b"results")
    message = signer.sign("a key", b"content")
    assert signer.verify("another key", message) is None
    assert MessageSigner(SECRET, b"runs").verify("a key", message) is None
    assert MessageSigner(b"t" * 32, b"results").verify("a key", message) is None
    assert signer.verify("a key", message[:-1]) is None
    assert signer.verify("a key", message[SIGNATURE_SIZE:]) is None
    assert signer.verify("a key", b"") is None
