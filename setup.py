"""Puts recipes and the sample crawl into the wheel as data of `curate`; all else stands in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
SHIPPED = ("configs/*.yaml", "configs/*/*.txt", "sample_crawl/*.warc", "sample_crawl/*.warc.gz")


class WithData(build_py):
    """The modules, and the top-level folders that the program reads, under `curate/data/`."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:  # a checkout has them beside the package
            return
        for pattern in SHIPPED:
            for file in sorted(ROOT.glob(pattern)):
                target = Path(self.build_lib, "curate", "data", file.relative_to(ROOT))
                self.mkpath(str(target.parent))
                self.copy_file(str(file), str(target))


setup(cmdclass={"build_py": WithData})
