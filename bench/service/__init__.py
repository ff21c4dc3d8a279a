"""What a CI service is told of a run: artefacts, annotations, a summary and outputs, in the form that it reads."""
