"""Text as CCNet's language models saw it when they were trained (Wenzek et al. 2020, section 3.3; cc_net's normalizer).

Lower case, marks off the letters, digits as 0, typographic punctuation as ASCII, control characters out.
"""

import re
import unicodedata

DIGIT, CONTROL = re.compile(r"\d"), re.compile("[\x00-\x1f\x7f-\x9f]")
PUNCTUATION = str.maketrans(
    {
        **dict.fromkeys("，、", ","),
        **dict.fromkeys("„”“«»」「《》", '"'),
        **dict.fromkeys("´’", "'"),
        **dict.fromkeys("∶：", ":"),
        **dict.fromkeys("–━►", "-"),
        **dict(zip("。？！（）；～〈〉【】％", ".?!();~<>[]%", strict=True)),
        "—": " - ",
        "．": ". ",
        "…": "...",
    }
)


def ccnet_text(text: str) -> str:
    """A text, or a line of one. Line breaks are control characters: a whole text becomes one line without them."""
    text = text.strip().lower()
    if not text.isascii():
        letters = unicodedata.normalize("NFD", text)
        text = "".join(letter for letter in letters if unicodedata.category(letter) != "Mn")
    return CONTROL.sub("", DIGIT.sub("0", text).translate(PUNCTUATION))
