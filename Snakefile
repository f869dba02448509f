# Include the workflow and repeat its default target: an include alone would run nothing.
include: "workflow/Snakefile"


rule default:
    default_target: True
    input:
        rules.all.input,
    localrule: True
