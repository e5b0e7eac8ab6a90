import * as z from 'zod'
import {
  createDocument,
  type ZodOpenApiContentObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import { TAGS, route, routes, type Documented, type Route } from './route.ts'
import type { Json } from '../../core/model/event.ts'
import shapes from './shapes.json' with { type: 'json' }

export interface DocumentOptions {
  readonly version: string
  readonly basePath?: string
  /** If false, the host application authenticates callers. */
  readonly usesTokens?: boolean
}

/** Appends the route that serves the document of these routes. */
export function withOpenApi(served: readonly Route[], options: DocumentOptions): readonly Route[] {
  let document: unknown
  const own = routes('Operation', {
    getOpenApi: route('get', '/api/openapi.json', 'agent', {
      summary: 'This document',
      answers: { 200: { description: 'OpenAPI 3.1', schema: z.record(z.string(), z.unknown()) } },
      handle: async () => ({ body: (document ??= openApiDocument(all, options)) }),
    }),
  })
  const all = [...served, ...own]
  return all
}

export function openApiDocument(
  served: readonly Route[],
  { version, basePath = '', usesTokens = true }: DocumentOptions,
): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = {}
  for (const [path, group] of Map.groupBy(served, each => each.path)) {
    paths[path.replaceAll(/:(\w+)/g, '{$1}')] = Object.fromEntries(
      group.map(each => [each.method, operation(each, usesTokens)]),
    )
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Runsheet',
      version,
      description: `The plan an AI agent works from and a person can trust. ${usesTokens ? BY_TOKEN : BY_HOST}; \`x-role\` says which role an operation needs.`,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: basePath || '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: { ...COMPONENTS },
      ...(usesTokens ? { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } } : {}),
    },
  })
}

const BY_TOKEN = 'Every request carries `Authorization: Bearer <token>`'
const BY_HOST = 'The host application authenticates requests'

function operation(each: Route, usesTokens: boolean): ZodOpenApiOperationObject {
  const { operationId, tag, params, query, headers, body, role, summary, answers } = each
  const documented: Readonly<Record<string, Documented>> = {
    ...answers,
    default: { description: 'An error', schema: shape('Error') },
  }
  return {
    operationId,
    tags: [tag],
    summary,
    'x-role': role,
    security: role === 'none' || !usesTokens ? [] : [{ token: [] }],
    ...(params || query || headers
      ? {
          requestParams: {
            ...(params ? { path: params as z.ZodObject } : {}),
            ...(query ? { query: query as z.ZodObject } : {}),
            ...(headers ? { header: headers } : {}),
          },
        }
      : {}),
    ...(body ? { requestBody: { required: true, content: { 'application/json': { schema: body } } } } : {}),
    responses: Object.fromEntries(
      Object.entries(documented).map(([status, answer]) => [
        status,
        { description: answer.description, content: contentOf(status, answer) },
      ]),
    ),
  }
}

function contentOf(status: string, { schema = failed(status), type, message }: Documented): ZodOpenApiContentObject {
  if (schema) return { 'application/json': { schema } }
  return type === undefined ? {} : { [type]: message ? { schema: message } : {} }
}

const failed = (status: string): Shape | undefined => (Number(status) >= 400 ? shape('Error') : undefined)

export interface Shape {
  readonly [keyword: string]: unknown
}

/** Generated from the domain types by `scripts/shapes.ts`. */
export const COMPONENTS: Readonly<Record<keyof typeof shapes.components, Shape>> = shapes.components
const ANSWERS: Readonly<Record<keyof typeof shapes.answers, Shape>> = shapes.answers

export const shape = (name: keyof typeof COMPONENTS | keyof typeof ANSWERS): Shape =>
  isAnswer(name) ? ANSWERS[name] : { $ref: `#/components/schemas/${name}` }

const isAnswer = (name: string): name is keyof typeof ANSWERS => Object.hasOwn(ANSWERS, name)

export const eventShape = (type: string): Shape | undefined => {
  const { mapping } = shapes.components.Event.discriminator
  const known: Readonly<Record<string, string>> = mapping
  return Object.hasOwn(known, type) ? { $ref: known[type] } : undefined
}

/** Builds a parser for a shape. Unknown fields are refused, or kept if `isOpen`. */
export function parserOf(of: Shape, isOpen = false): z.ZodType {
  const text = JSON.stringify({ ...of, $defs: COMPONENTS }).replaceAll('#/components/schemas/', '#/$defs/')
  const drop = (key: string, value: unknown): unknown =>
    isOpen && key === 'additionalProperties' && value === false ? undefined : value
  return z.fromJSONSchema(JSON.parse(text, drop) as z.core.JSONSchema.JSONSchema)
}

/**
 * Ties a schema to a type: any difference in fields, optional marks or values is a compile error. The type is the
 * definition; its schema adds only what the document needs.
 */
export const exact =
  <T>() =>
  <S extends z.ZodType<T>>(schema: S, ..._differs: Difference<T, z.output<S>>): S =>
    schema

/** Empty if the types are equal; otherwise requires an argument, so that the compiler error shows both types. */
type Difference<T, U> = Same<Plain<T>, Plain<U>> extends true ? [] : [expected: Plain<T>, got: Plain<U>]

/** Compares identity; assignability would miss an optional field that only one type has. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the compiler compares two such functions by identity
type Same<T, U> = (<X>() => X extends T ? 1 : 2) extends <X>() => X extends U ? 1 : 2 ? true : false

/** Normalizes a type to plain JSON: ignores `readonly` and interface versus type alias. */
type Plain<T> = Json extends T
  ? T
  : T extends string
    ? string extends T
      ? string
      : T
    : T extends object
      ? { readonly [K in keyof T]: Plain<T[K]> }
      : T
