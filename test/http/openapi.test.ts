import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { ROUTES } from '../../src/server/routes/index.ts'
import { started } from '../support/checked.ts'

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly security: readonly object[]
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: object }>>
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly requestBody?: { readonly content: object }
  readonly 'x-role': string
}
interface Document {
  readonly tags: readonly { readonly name: string }[]
  readonly components: { readonly schemas: Readonly<Record<string, { readonly oneOf: readonly object[] }>> }
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const served = async (): Promise<Document> => {
  const server = await started()
  const { status, body } = await server.ask<Document>('GET', '/api/openapi.json', { as: 'agent' })
  expect(status).toBe(200)
  return body
}

const operations = ({ paths }: Document): [name: string, Operation][] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method} ${path}`, operation]),
  )

describe('the OpenAPI document', () => {
  it('[HT27] is valid', async () => {
    const document = await served()
    expect(document.openapi).toMatch(/^3\.1\./)
    expect(await new Validator().validate({ ...document })).toEqual({ valid: true })
  })

  it('[HT27] holds every route that is served, and no other', async () => {
    const named = operations(await served()).map(([name]) => name)
    const routes = ROUTES.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
    expect(named.toSorted()).toEqual([...routes, 'get /api/openapi.json'].toSorted())
  })

  it('[HT27] describes every operation, its answers and the token it takes', async () => {
    const all = operations(await served())
    expect(new Set(all.map(([, { operationId }]) => operationId)).size).toBe(all.length)
    for (const [name, { summary, security, responses, 'x-role': role }] of all) {
      expect(summary, name).toMatch(/^\S.{3,}/)
      expect(security, name).toEqual(role === 'none' ? [] : [{ token: [] }])
      expect(responses['default'], name).toMatchObject({ content: { 'application/json': expect.anything() } })
      expect(
        Object.keys(responses).some(status => /^[25]\d\d$/.test(status)),
        name,
      ).toBe(true)
      for (const { description } of Object.values(responses)) expect(description, name).toMatch(/\S/)
    }
  })

  it('[HT27] names every operation as a client would call it, and groups them by tag', async () => {
    const document = await served()
    const tags = document.tags.map(({ name }) => name)
    for (const [name, { operationId, tags: own }] of operations(document)) {
      expect(operationId, name).toMatch(/^[a-z]+([A-Z][a-z]+)*$/)
      expect(own, name).toHaveLength(1)
      expect(tags, name).toContain(own[0])
    }
  })

  it('[HT27] has a schema for every type of event, and a stream is made of those', async () => {
    const { components } = await served()
    const { Event: stored, StreamedEvent: streamed } = components.schemas
    const named = Object.keys(components.schemas).filter(name => /[a-z]Event$/.test(name) && name !== 'StreamedEvent')
    const refs = named.map(name => ({ $ref: `#/components/schemas/${name}` }))
    expect(streamed?.oneOf).toHaveLength(refs.length)
    expect(streamed?.oneOf).toEqual(expect.arrayContaining(refs))
    expect(streamed?.oneOf.slice(0, stored?.oneOf.length)).toEqual(stored?.oneOf)
  })

  it('[HT27][HT1] gives every error the same form', async () => {
    const error = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
    for (const [name, { responses }] of operations(await served())) {
      const failures = Object.entries(responses).filter(([status]) => !/^[123]/.test(status))
      for (const [status, { content }] of failures) expect(content, `${name} ${status}`).toEqual(error)
    }
  })

  it('[HT27] names every part of a path, and a body where one is taken', async () => {
    for (const [name, { parameters = [], requestBody }] of operations(await served())) {
      const parts = [...name.matchAll(/\{(\w+)\}/g)].map(([, part]) => part)
      expect(
        parameters.filter(each => each.in === 'path').map(each => each.name),
        name,
      ).toEqual(parts)
      const route = ROUTES.find(({ method, path }) => name === `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
      expect(requestBody !== undefined, name).toBe(route?.body !== undefined)
    }
  })

  it('[HT27] refers to nothing that it does not hold', async () => {
    const document = await served()
    const text = JSON.stringify(document)
    for (const [, ref] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = (ref ?? '')
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document)
      expect(found, ref).toBeDefined()
    }
  })

  it('[HT27] takes a token, as everything does', async () => {
    const server = await started()
    expect((await server.refused(401, 'GET', '/api/openapi.json', { as: 'nobody' })).code).toBe('unauthorized')
  })
})
