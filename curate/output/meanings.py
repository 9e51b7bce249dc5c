"""What each column that a run writes means, and what the reasons of reader and guard: `docs/output.md` is made of it.

A name with a file's before it (`cuts.text`) goes before the bare one.
"""

from collections.abc import Mapping

COLUMNS: Mapping[str, str] = {
    "text": "the text as the stages left it",
    "samples.text": "the text as it was when it was dropped",
    "cuts.text": "the beginning of what was cut out",
    "id": "the record's id: WARC-Record-ID, the id column, or file#offset",
    "record_id": "the same as `id` of the shards",
    "dump": "the Common Crawl snapshot that the file's path names, such as CC-MAIN-2024-10; null where it names none",
    "url": "the page's URL",
    "domain": "host of the URL in lower case, without www.",
    "date": "when it was fetched, ISO 8601 in UTC",
    "file_path": "the input file, as the config names it",
    "language": "what the stage `language` found, or a column of the source; null where the page did not come so far",
    "language_score": "how sure it was",
    "token_count": "tokens, where a stage counted them",
    "source": "the name of the source in the config's `input`",
    "offset": "where the record lies in its file: a byte, or a row of Parquet",
    "length": "how much of the file the record takes, in the same unit",
    "status": "HTTP status",
    "words": "words of the text, split at white space; null where there was no text yet",
    "cuts.words": "words that were cut out",
    "bytes": "bytes of the text in UTF-8; null where there was no text yet",
    "stage": "the stage that dropped it; `read`, `guard` and `caps` are the program's own",
    "measures.stage": "the stage that dropped it; null where it passed the document stages",
    "cuts.stage": "the stage that cut",
    "reason": "why",
    "value": "what was measured, where the reason has a number",
    "limit": "the limit that it broke",
    "matched_file": "the file of the document that it is a copy of",
    "cuts.matched_file": "the file of a document that holds the same",
    "matched_offset": "and its offset there",
    "score": "how alike the two are",
    "cause": "words about it: a listed word, an error's message",
    "measured": "how many rule stages measured it, the first ones in order",
    "hash": "what samples are drawn by",
    "start": "first character that was cut, in the text that the stage saw",
    "end": "the character behind the last one",
}

READ: Mapping[str, str] = {
    "bad_status": "the HTTP status is not one of the source's `status`, or an answer has no status line",
    "damaged": "the bytes can't be read: a flipped byte, a cut file, a line that is no JSON; the cause says which",
    "not_text": "no web page and no text: an image, a PDF, a row without text. `text/plain` is text, and a document",
    "too_large": "larger than the source's `max_record_bytes`",
    "truncated": "the crawler or the server cut the page off; `keep_truncated` keeps such pages",
    "undecodable": "no encoding fits the bytes",
}
GUARD: Mapping[str, str] = {
    "crashed": "a parser crashed on the page and took its worker with it",
    "hung": "the page took more than `cpu_seconds`",
    "out_of_memory": "the page took more memory than a worker may have",
}
