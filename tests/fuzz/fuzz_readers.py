"""All readers that are fuzzed. A new reader of seqkern gets a line in one of the tables that are joined here."""

import fuzz_genome
import fuzz_models
import fuzz_profiles
import fuzz_sequences
import fuzz_tables
import fuzz_texts
from fuzz_reader import Reader

TABLES = (fuzz_sequences, fuzz_genome, fuzz_tables, fuzz_profiles, fuzz_models, fuzz_texts)
READERS: dict[str, Reader] = {reader.name: reader for table in TABLES for reader in table.READERS}
