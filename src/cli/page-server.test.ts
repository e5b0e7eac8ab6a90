import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { scratchFolder } from '../../test/support/scratch.ts'
import { DataFolder } from './folder.ts'
import { PageServer } from './page-server.ts'

function pagesOf(program: string): { pages: PageServer; folder: DataFolder; said: string[]; starts: () => number } {
  const scratch = scratchFolder()
  onTestFinished(() => rmSync(scratch, { recursive: true }))
  const folder = new DataFolder(join(scratch, 'data'))
  const said: string[] = []
  writeFileSync(join(scratch, 'serve.cjs'), program)
  const options = {
    store: 'sqlite',
    config: 'runsheet.json',
    idleExit: '1m',
    program: [join(scratch, 'serve.cjs')],
    environment: { ...process.env, RUNSHEET_PORT: '0' },
  }
  const starts = (): number => readFileSync(join(folder.path, 'serve.log'), 'utf8').split('\n').length - 1
  return { pages: new PageServer(folder, options, line => said.push(line)), folder, said, starts }
}

describe('the server of the page', () => {
  it('[MC7] one that cannot be started is not tried again for every call, and is complained about once', async () => {
    const { pages, said, starts } = pagesOf('console.error("no"); process.exit(1)')
    const links = await Promise.all(Array.from({ length: 8 }, () => pages.link('c1', true)))
    expect(new Set(links)).toEqual(new Set([undefined]))
    // On the usual port and on any other.
    expect(starts()).toBe(2)
    expect(await pages.link('c1', true)).toBeUndefined()
    expect(starts()).toBe(2)
    expect(said).toEqual([expect.stringContaining('could not be started')])
  })

  it('[MC7] one that cannot even be tried is no page, and no failure of the call', async () => {
    const { pages, folder, said } = pagesOf('')
    mkdirSync(join(folder.path, 'serve.log'))
    expect(await pages.link('c1', true)).toBeUndefined()
    expect(await pages.link('c1', false)).toBeUndefined()
    expect(said).toEqual([expect.stringMatching(/could not be started; .*EISDIR/)])
  })
})
