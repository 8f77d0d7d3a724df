# Filings: the text of annual reports, from a folder, from EDGAR or from the source archive of a package.
#   needs   what config `filings` names; the network, unless that is a folder or was fetched before
#   makes   results/filings/documents.parquet, which has no rows if the filings cannot be had
FILINGS = config["filings"]
# The identity goes to the job alone: parameters are published with every table.
os.environ |= sources.declared(FILINGS)


rule filings_documents:
    """Annual reports as prose, one paragraph a line, cut to the wanted Items."""
    input:
        files=filings_files(FILINGS),
    output:
        documents="results/filings/documents.parquet",
    log:
        "results/logs/filings-documents.log",
    priority: 1
    conda:
        "../../envs/pipeline.yaml"
    threads: 1
    params:
        code=code("filings_documents.py"),
        source=sources.choose(FILINGS, os.environ),
        settings={name: value for name, value in FILINGS.items() if name != "identity"},
    script:
        "../scripts/filings_documents.py"
