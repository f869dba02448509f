"""The small genome as a folder."""

import pytest
from small_genome import write_genome


@pytest.fixture(scope="session")
def genome_folder(tmp_path_factory):
    return write_genome(tmp_path_factory.mktemp("genome"))


@pytest.fixture
def inside(genome_folder, monkeypatch):
    monkeypatch.chdir(genome_folder)
    return genome_folder
