"""Loads one model file and leaves: the program that `stages.models.tried` starts before a stranger's file is believed.

Called with the kind of the file, its path, and how much address space (bytes) and CPU time (seconds) it may take.
It imports nothing of ours, so that it starts fast.
"""

import contextlib
import os
import sys

REFUSED, TOO_LARGE = 3, 4  # exit statuses: the library says why on standard error; it asked for more than its space


def limit(space: int, seconds: int) -> None:
    """Bounds this process; where the system has no such bounds, the parent's clock is the only one."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_AS, (space, space))


def load_fasttext(path: str) -> None:
    import fasttext

    model = fasttext.load_model(path)
    model.f.predict("a word\n", 1, 0.0, "strict")  # a matrix of another size than the header's shows only here


def load_onnx(path: str) -> None:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def load_sentencepiece(path: str) -> None:
    from sentencepiece import SentencePieceProcessor

    model = SentencePieceProcessor()
    with open(path, "rb") as file:  # noqa: PTH123 - no more imports than it needs
        model.LoadFromSerializedProto(file.read())
    model.EncodeAsPieces("a word")


def load_tokenizer(path: str) -> None:
    from tokenizers import Tokenizer

    with open(path, "rb") as file:  # noqa: PTH123
        Tokenizer.from_buffer(file.read()).encode("a word")


LOADERS = {
    "fasttext": load_fasttext,
    "onnx": load_onnx,
    "sentencepiece": load_sentencepiece,
    "tokenizer": load_tokenizer,
}


def main(kind: str, path: str, space: str, seconds: str) -> int:
    limit(int(space), int(seconds))
    try:
        LOADERS[kind](path)
    except MemoryError:
        return TOO_LARGE
    except (ValueError, RuntimeError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return REFUSED
    return 0


if __name__ == "__main__":
    status = main(*sys.argv[1:])
    sys.stderr.flush()
    os._exit(status)  # past the destructors of whatever was half loaded
