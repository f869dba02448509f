"""The files of genomics: indexed FASTA, BED, GTF, VCF, bigWig, through the field's libraries."""
