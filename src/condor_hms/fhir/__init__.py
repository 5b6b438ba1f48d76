"""A patient record behind one port: the FHIR store, its embedded implementation, validation of writes."""
