import { readdirSync, readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { apiReports, undocumentedExports } from '../support/api-report.ts'

const folder = new URL('../../docs/api/', import.meta.url)
let reports: ReadonlyMap<string, string>

beforeAll(() => {
  reports = apiReports()
}, 180_000)

describe('the API reports in docs/api', () => {
  it('[LA6] are those of the build: if this fails, run `npm run docs:api` and review the difference', () => {
    const stored = readdirSync(folder).map(name => [name, readFileSync(new URL(name, folder), 'utf8')] as const)
    expect(new Map(stored)).toEqual(reports)
  })

  it('every export has TSDoc', () => {
    const missing = [...reports].flatMap(([name, text]) => undocumentedExports(text).map(each => `${name}: ${each}`))
    expect(missing).toEqual([])
  })

  it('neither fault hooks nor clock skew are public', () => {
    for (const text of reports.values()) expect(text).not.toMatch(/\bfaults?\b|skew/i)
  })
})
