"""Generate the article's kind of corpus from one seed: a table of documents, which is then read like any other."""

import numpy as np

from attnkernel.corpus import synthetic
from attnkernel.job import Job, log, run
from attnkernel.seeding import seed_sequence


def main(job: Job) -> None:
    parameters = synthetic.Parameters(**job.params.settings)
    documents = synthetic.generate(parameters, seed_sequence(job.params.seed, "synthetic"))
    texts = ["\n".join(map(" ".join, document.sentences)) for document in documents]
    columns = {"id": [d.id for d in documents], "kind": [d.kind for d in documents], "text": texts}
    log.info("generated %d documents", len(documents))
    job.write(job.output.documents, {name: np.array(values, dtype=object) for name, values in columns.items()})


if __name__ == "__main__":
    run(main, snakemake, __file__)
