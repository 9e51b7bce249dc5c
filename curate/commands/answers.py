"""What `--json` prints: the keys of each command's document, which its page in the docs lists."""

from typing import NamedTuple


class JsonKeys(NamedTuple):
    """The document of a command: what it is an object of, or a list of objects of, and its keys with their meanings."""

    of: str
    keys: dict[str, str]


PAGE = {
    "source": "name of its source in the config",
    "file_path": "the file it lies in",
    "offset": "where in the file",
    "url": "its URL, or null",
}
ANSWERS: dict[str, JsonKeys] = {
    "check": JsonKeys(
        "an object",
        {
            "input": "of each source: its name, number of files, their bytes, the first file",
            "stages": "of each stage: name, kind (document or corpus), reasons, columns that it adds",
            "against": "earlier runs that it is deduplicated against",
            "output": "folder, order, shard_bytes, by, and what a run would find there",
            "columns": "of the shards",
        },
    ),
    "stages": JsonKeys(
        "a list with an object a stage (with --config: an object, its parts of a config each with their `options`)",
        {
            "name": "the word of the config",
            "kind": "document or corpus",
            "about": "what it does",
            "options": "of each option: default or required, what is allowed, meaning",
            "limits": "options that `what-if` can change",
            "adds": "columns that it adds, with their types",
            "measures": "what it measures, with the types",
            "reasons": "for which it drops",
        },
    ),
    "try": JsonKeys(
        "an object",
        {
            "page": "the place asked for",
            "url": "of the page, or null",
            "dropped": "whether a stage drops it",
            "verdict": "in words",
            "words": "of the text, or null",
            "stages": "of each stage: verdict, reason, measures with their limits, and which are broken",
            "resembles": "with --against: of each corpus stage the most similar kept document",
        },
    ),
    "top": JsonKeys(
        "an object",
        {
            "state": "running, stopped or finished",
            "phase": "plan, scan, decide, write or finished",
            "seconds": "since this call of the run began; of a finished run, in all",
            "workers": "their number",
            "share": "of the input that is read, 0 to 1, or null",
            "seconds_left": "of the scan, or null",
            "documents": "pages read",
            "passed": "pages that came through the document stages; of a finished run, those kept",
            "pages_per_second": "read of late, or null",
            "stages": "of each stage: pages, dropped, kept_share, and the reason that cost most",
            "alarms": "sentences",
            "slowest": "of each slow page: cpu_seconds, file, offset",
            "at_work": "of each task: file, offset, share, documents, seconds since it stored something",
        },
    ),
    "stats": JsonKeys(
        "an object",
        {
            "read": "documents, and bytes of the files",
            "limit": "pages of a trial run, or null",
            "kept": "documents, rows, words, bytes, tokens",
            "tokens_counted": "whether the tokens of what was kept are more than an estimate",
            "by": "what the rows are of",
            "rows": "the table: of each stage and reason, or of each group, documents, words, bytes, tokens",
            "records": "records that are no documents, by kind",
            "notes": "what stages counted",
            "alarms": "kind, name, and of how many documents it speaks",
            "timings": "seconds by phase and stage, workers, CPU hours",
        },
    ),
    "why": JsonKeys(
        "a list with an object a page of that URL or place",
        {
            "kept": "whether it was kept",
            "row": "its row of the shards or the ledger, without the text",
            "language": "or null",
            "words": "of its text, or null",
            "bytes": "of its text, or null",
            "twin": "what it is a copy of, or null: file, offset, score, url, fate",
            "copies": "pages dropped as copies of it, a few",
            "copies_in_all": "how many those are",
            "stages": "of each stage: verdict, reason, measures with their limits, and which are broken",
            "title": "of the raw page, or null",
            "text": "its text as far as the run stored it (with --text: made again), or null",
            "missing": "why the page could not be read again, or null",
            "reopen": "the command that tries it again",
        },
    ),
    "what-if": JsonKeys(
        "an object (with --sweep: a list with value, documents, words, unknown, kept, exact of each value)",
        {
            "read": "documents",
            "passed_before": "documents and words that passed the document stages in the run",
            "passed": "the same with the other limits",
            "unknown": "documents and words that would go on to a stage which did not see them",
            "dropped": "of each reason: stage, reason, documents and words before and after",
            "corpus": "of each corpus stage: what is kept after it, before and after, and whether that is exact",
            "unmeasured": "pages that no rule stage measured, by the stage that dropped them",
            "languages": "the same by language",
            "sources": "and by source",
        },
    ),
    "propose": JsonKeys(
        "an object",
        {
            "proposals": "of each limit: stage, option, now, proposed, and pages that each of the two drops",
            "pages": "that judged them",
            "kept_now": "of those, with the run's limits",
            "kept": "of those, with the proposed ones",
        },
    ),
    "rules diff": JsonKeys(
        "an object",
        {
            "from_records": "whether the records of the run answered, not a sample read again",
            "pages": "asked",
            "both_keep": "pages",
            "both_drop": "pages",
            "other_reason": "of those, dropped for different reasons",
            "only_a": "reasons of b for what a alone keeps, with pages",
            "only_b": "reasons of a for what b alone keeps, with pages",
            "examples": "place, verdict of a, verdict of b",
            "left_out": "pages that could not be told of",
        },
    ),
    "sample": JsonKeys(
        "a list with an object a page",
        {
            **PAGE,
            "stage": "that dropped it, or null",
            "reason": "or null",
            "value": "measured, or null",
            "limit": "that it broke, or null",
            "text": "or null",
            "origin": "shards, samples or input: where the text comes from",
            "missing": "why there is no text, or null",
        },
    ),
    "diff": JsonKeys(
        "an object",
        {
            "config": "how the configs differ, a sentence each",
            "funnel": "of each stage and reason: documents and words in both runs",
            "moves": "before and after (stage, reason), whether they changed sides, how many documents, examples",
        },
    ),
    "audit": JsonKeys(
        "a list with an object a stage that compares documents",
        {
            "stage": "its name",
            "threshold": "similarity from which it drops",
            "dropped": "documents that it dropped",
            "kept": "documents that the run kept",
            "merged": "the sampled pairs of a dropped document and the one it is a copy of",
            "lost": "sampled ones whose text could not be had",
            "misses": "sampled kept documents with an earlier kept one that is alike",
            "compared": "kept documents in the sample",
            "precision": "share and its 95 % interval",
            "missed": "share and its 95 % interval",
            "recall": "share and its 95 % interval",
            "bins": "by similarity: pairs dropped and not, and what the bands promise",
        },
    ),
    "compare": JsonKeys(
        "a list with an object a measure",
        {
            "measure": "its name",
            "a": "of the first run",
            "b": "of the second",
            "low": "end of the interval of b - a",
            "high": "end of the interval of b - a",
            "better": "lower or higher, or empty where neither is",
            "shows": "what it says",
            "verdict": "a, b, none (no difference) or other (they differ)",
        },
    ),
    "estimate": JsonKeys(
        "an object; bytes and seconds, ranges as value, low and high",
        {
            "sample": "slices, bytes, share and pages that were run",
            "input_bytes": "of all files",
            "pages": "range",
            "pass_share": "range: share that passes the document stages",
            "pass_pages": "range",
            "pass_words": "range",
            "scan_cpu_seconds": "range",
            "work_bytes": "of the intermediate files at most",
            "output_bytes": "about",
            "corpus_dropped_of_sample": "share that each corpus stage dropped within the sample",
            "start_up_seconds": "about",
            "after_scan_seconds": "about",
            "worker_memory_bytes": "of one worker at most",
            "driver_memory_bytes": "at most",
            "workers": "of the run",
            "scan_wall_seconds": "range, with those workers",
        },
    ),
    "bands": JsonKeys(
        "an object",
        {
            "threshold": "asked for",
            "permutations": "of a signature",
            "similarity": "of a pair, ascending",
            "confirmed": "at each similarity the chance that the signatures agree",
            "bandings": "of each division: bands, rows, chosen, steepest, and at each similarity the chance to meet",
            "recall": "pairs of similarity and expected recall, from the threshold on",
        },
    ),
    "train": JsonKeys(
        "an object (of an extractor: pages, left_out)",
        {
            "good": "documents read, of the first kind",
            "bad": "of the second",
            "held_out_good": "documents",
            "held_out_bad": "documents",
            "accuracy": "on the held-out documents",
            "auc": "on the held-out documents",
            "kinds": "what the two are called",
        },
    ),
    "verify": JsonKeys(
        "an object",
        {
            "whole": "whether no fault was found",
            "faults": "a sentence each",
            "shards": "of the manifest",
            "rows": "read, kept, dropped, written, as the manifest has them",
        },
    ),
    "export": JsonKeys(
        "an object",
        {
            "folder": "where the files lie",
            "settings": "as they were given",
            "from": "a digest of the shards that were read",
            "curate": "the version",
            "tokenizer": "a digest of its file, or null",
            "splits": "of each split: documents, sequences, tokens, padded",
            "empty": "documents that gave no token",
            "parts": "split, phase, index and file of each part",
            "files": "name, bytes and SHA-256 of the others",
            "itself": "name, bytes and SHA-256 of the file that holds all this",
        },
    ),
    "doctor": JsonKeys(
        "a list with an object a thing looked at",
        {"about": "what", "state": "ok, optional or missing", "found": "in words", "mend": "the command, or null"},
    ),
}

MAKES = {
    "run": "makes an output; `curate stats OUT --json` tells what came of it",
    "init": "writes a config; `curate check CONFIG --json` tells what is in it",
    "pack": "writes a WARC file",
    "report": "writes a page for people; `curate stats`, `sample`, `why` have its facts",
    "quarantine": "writes a WARC file",
    "schema": "prints JSON already",
    "completion": "prints a script",
    "scale completion": "prints a script",
}
"""Commands without `--json`, and why."""
