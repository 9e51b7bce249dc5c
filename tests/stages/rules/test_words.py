"""The tokenisations of published rule sets."""

from stages.rules.words import english_tokens, unicode_words


def test_english_tokens_part_marks_from_words() -> None:
    assert english_tokens('"Don\'t panic," she said (twice)... well-known U.S. e.g. $3.50!') == [
        '"',
        "Do",
        "n't",
        "panic",
        ",",
        '"',
        "she",
        "said",
        "(",
        "twice",
        ")",
        "...",
        "well",
        "-",
        "known",
        "U.S.",
        "e.g.",
        "$",
        "3.50",
        "!",
    ]
    assert english_tokens("see https://a.example.org/b-c?d=e, it's ½") == [
        "see",
        "https://a.example.org/b-c?d=e",
        ",",
        "it",
        "'s",
        "½",
    ]


def test_unicode_words_have_no_punctuation_and_part_ideographs() -> None:
    assert unicode_words("can't stop 3.14, e-mail _x 日本 cafe\u0301!") == [
        "can't",
        "stop",
        "3.14",
        "e",
        "mail",
        "日",
        "本",
        "cafe\u0301",
    ]


def test_english_tokens_of_a_piece_too_long_for_the_rules() -> None:
    url = "https://a.example.org/" + "x" * 400
    assert english_tokens(f"see {url} now") == ["see", url, "now"]
    assert english_tokens("(" * 200_000 + "a") == ["("] * 200_000 + ["a"]
