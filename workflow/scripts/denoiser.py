"""Train the denoising layer once a seed, and hold it against the optimum."""

from attnkernel import circle, denoiser
from attnkernel.job import Job, run


def main(job: Job) -> None:
    params = job.params
    spectra = {name: circle.spectrum_of(variances) for name, variances in params.spectra.items()}
    protocol = denoiser.Protocol(**params.protocol)
    ends, trace = denoiser.denoiser_tables(spectra, params.sigma, params.settings, protocol, params.seeds)
    job.publish("denoiser", ends)
    job.publish("denoiser_trace", trace)
    job.publish("denoiser_summary", denoiser.summary_table(ends))


if __name__ == "__main__":
    run(main, snakemake, __file__)
