import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Child, runCli } from '../support/children.ts'
import { hostOf, overStdio, PLAN, serveFolder, URL_MODE } from '../support/mcp.ts'
import { sharedBrowser, visit } from '../support/page.ts'
import { scratchFolder } from '../support/scratch.ts'

const browser = await sharedBrowser()

let scratch: string
let data: string
let server: Child

beforeAll(async () => {
  scratch = scratchFolder()
  data = join(scratch, 'data')
  server = await serveFolder(data)
})
afterAll(async () => {
  server.process.kill()
  await server.ended
  rmSync(scratch, { recursive: true })
})

describe.each(['2025', '2026'] as const)('a host of the %s era', era => {
  it('the plan opens from the printed link, is edited in the browser, arrives as edited, and is recorded as decided there', async () => {
    const link = Promise.withResolvers<string>()
    const host = await overStdio(
      data,
      hostOf({
        era,
        capabilities: URL_MODE,
        answers: params => {
          link.resolve('url' in params ? params.url : '')
          return { action: 'accept' }
        },
      }),
    )
    const answer = host.call('plan', PLAN)
    const { page, context, problems } = await visit(browser, await link.promise)
    await page.getByLabel('Title, 1', { exact: true }).fill('Look around')
    await page.getByRole('button', { name: /^Approve / }).click()
    expect((await answer).data).toMatchObject({
      ids: [1, 2],
      next: '1 Look around',
      changes: { edited: [{ id: 1, title: 'Look around' }] },
    })
    await host.call('update', { id: 1, outcome: 'Nothing there.' })
    await page.getByText('1 of 2 done · 1 remaining').waitFor()
    expect(problems).toEqual([])
    await context.close()
    await host.client.close()
    const audit = runCli(['audit', '--data', data, '--json'], { file: 'dist/cli/runsheet.js' })
    await audit.ended
    const decided = audit.lines.findLast(line => line.includes('task_create_review_resolved')) ?? ''
    expect(JSON.parse(decided)).toMatchObject({
      what: expect.stringMatching(/^review \S+ confirmed: 2 tasks$/),
      origin: {
        actor: 'person',
        edge: 'page',
        credential: 'page',
        claimed: { client: expect.stringMatching(/^Mozilla/) },
      },
    })
  })
})
