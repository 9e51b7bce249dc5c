"""The last answer is kept by the identity of what was asked."""

from stages.extraction.last import last

asked: list[str] = []


@last
def doubled(text: str, other: str | None) -> str:
    asked.append(text)
    return text * 2


def test_only_the_same_object_is_not_asked_again() -> None:
    first, equal = "".join(["a", "b"]), "".join(["a", "b"])
    assert [doubled(first, None), doubled(first, None), doubled(equal, None), doubled(first, None)] == ["abab"] * 4
    assert len(asked) == 3
    doubled.cache_clear()
    assert doubled(first, None) == "abab"
    assert len(asked) == 4
