"""Making the bundled model: from git mirrors to the files in ``findling/embedding/model``. Not part of the package."""
