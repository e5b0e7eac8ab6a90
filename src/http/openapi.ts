import * as z from 'zod'
import { createDocument, type ZodOpenApiOperationObject, type ZodOpenApiPathsObject } from 'zod-openapi'
import { type Documented, type Route, route } from './route.ts'
import { errorBody } from './schemas.ts'

/** The document, made from the routes themselves, and the route that serves it. */
export function withOpenApi(routes: readonly Route[], version: string): readonly Route[] {
  let document: unknown
  const own: Route = route({
    method: 'get',
    path: '/api/openapi.json',
    role: 'agent',
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1', schema: z.record(z.string(), z.unknown()) } },
    handle: async () => ({ body: (document ??= openApiDocument(all, version)) }),
  })
  const all: readonly Route[] = [...routes, own]
  return all
}

export function openApiDocument(routes: readonly Route[], version: string): ReturnType<typeof createDocument> {
  const paths: ZodOpenApiPathsObject = {}
  for (const [path, group] of Map.groupBy(routes, each => each.path)) {
    paths[path.replaceAll(/:(\w+)/g, '{$1}')] = Object.fromEntries(group.map(each => [each.method, operation(each)]))
  }
  return createDocument({
    openapi: '3.1.0',
    info: {
      title: 'Runsheet',
      version,
      description:
        'The plan an AI agent works from and a person can trust. Every request carries `Authorization: Bearer …`; `x-role` says whose token it takes.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  })
}

function operation(each: Route): ZodOpenApiOperationObject {
  const { params, query, headers, body, role, summary, answers } = each
  const documented: Readonly<Record<string, Documented>> = {
    ...answers,
    default: { description: 'What went wrong', schema: errorBody },
  }
  return {
    operationId: operationId(each),
    summary,
    'x-role': role,
    security: role === 'nobody' ? [] : [{ token: [] }],
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
      Object.entries(documented).map(([status, { description, schema = failed(status), type }]) => [
        status,
        {
          description,
          ...(schema ? { content: { 'application/json': { schema } } } : type ? { content: { [type]: {} } } : {}),
        },
      ]),
    ),
  }
}

/** Whatever goes wrong is told in one form. */
const failed = (status: string): z.ZodType | undefined => (Number(status) >= 400 ? errorBody : undefined)

const operationId = ({ method, path }: Route): string =>
  `${method}_${path.replace(/^\//, '').replaceAll(/[^A-Za-z0-9]+/g, '_')}`
