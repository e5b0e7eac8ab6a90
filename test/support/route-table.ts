import { withOpenApi } from '../../src/server/http/openapi.ts'
import { ROUTES } from '../../src/server/routes/index.ts'

/** Every operation of the OpenAPI document as a table row: what it does, and whose token it takes. */
export function routeTable(): string {
  const rows = withOpenApi(ROUTES, { version: '0' }).map(({ method, path, role, summary, answers }) => {
    const statuses = Object.keys(answers).join(', ')
    return `| \`${method.toUpperCase()} ${path}\` | ${role === 'none' ? '–' : role} | ${summary} | ${statuses} |`
  })
  return ['| request | token | what it does | answers |', '| --- | --- | --- | --- |', ...rows, ''].join('\n')
}
