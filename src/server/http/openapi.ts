import * as z from 'zod'
import {
  createDocument,
  type ZodOpenApiContentObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import { type Documented, type Route, route, routes, TAGS } from './route.ts'
import { COMPONENTS, type Shape, shape } from './shapes.ts'

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
