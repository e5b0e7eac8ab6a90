import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { runProcess } from './support/children.ts'
import { FAULT_ROWS } from './support/fault-rows.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const FIXTURES = 'test/support/fault-fixtures'

const HOLDING = {
  'a fault that holds': ['holds.fixture.ts'],
  'a fault in two files': ['holds.fixture.ts', 'holds-too.fixture.ts'],
}
const FAILING = {
  'a test that fails': ['fails.fixture.ts'],
  'a beforeAll that fails': ['fails.fixture.ts'],
  'an afterAll that fails': ['fails.fixture.ts'],
  'nothing was injected': ['fails.fixture.ts'],
  'its worker is killed': ['killed.fixture.ts'],
  'its file is gone': ['gone.fixture.ts'],
}

/** Runs fixtures: the verdict of each row, the last line, and how the run ended. */
async function run(rows: typeof FAULT_ROWS, files: readonly string[]) {
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--config', `${FIXTURES}/vitest.config.ts`]
  const child = runProcess([process.execPath, ...vitest, ...files], {
    cwd: root,
    env: { ...process.env, FIXTURE_ROWS: JSON.stringify(rows), FAULT_TABLE: '' },
  })
  const { code } = await child.ended
  const cells = child.lines.filter(line => line.startsWith('| ')).map(line => line.split('|').map(cell => cell.trim()))
  const verdicts = Object.fromEntries(
    cells.slice(2).map(([, name = '', tried, held, verdict]) => [name, `${held}/${tried} ${verdict}`]),
  )
  return { code, verdicts, whole: child.lines.findLast(line => line !== '') }
}

describe.concurrent('the table of faults', () => {
  it('every row was run and held: so did the whole, and the run ends with 0', async () => {
    expect(await run(HOLDING, ['holds'])).toEqual({
      code: 0,
      verdicts: { 'a fault that holds': '4/4 held', 'a fault in two files': '2/2 held' },
      whole: 'held: all 2 rows',
    })
  })

  it('tests, hooks and workers that fail, faults without an injection and rows nobody listed do not hold', async () => {
    expect(await run({ ...HOLDING, ...FAILING }, ['holds', 'fails', 'killed', 'gone'])).toEqual({
      code: 1,
      verdicts: {
        'a fault that holds': '4/4 held',
        'a fault in two files': '2/2 held',
        'a test that fails': '1/2 not held',
        'a beforeAll that fails': '0/1 not held',
        'an afterAll that fails': '1/2 not held',
        'nothing was injected': '0/0 not run',
        'its worker is killed': '0/1 not held',
        'its file is gone': '0/0 not run',
        'a row that nobody listed': '1/1 not listed',
      },
      whole: 'not held: 4 rows not held, 2 rows not run, 1 rows not listed, 1 errors outside of tests',
    })
  })

  it('a file that was not run is missed, though others of its row held; errors that no test handles count', async () => {
    expect(await run(HOLDING, ['holds.fixture', 'rejects'])).toEqual({
      code: 1,
      verdicts: { 'a fault that holds': '4/4 held', 'a fault in two files': '1/1 not run' },
      whole: 'not held: 1 rows not run, 1 errors outside of tests',
    })
  })
})

describe('the list of rows', () => {
  it('has every row that a test names, and every file in test/faults', () => {
    const rows = Object.keys(FAULT_ROWS)
    for (const file of globSync('{src,test}/**/*.test.ts', { cwd: root })) {
      const named = [...readFileSync(`${root}${file}`, 'utf8').matchAll(/^ *fault\((['`])(.*)\1\)/gm)]
      const listed = rows.filter(row => FAULT_ROWS[row]?.includes(file))
      for (const [, , name = ''] of named) {
        const [start = ''] = name.split('${')
        expect(
          listed.some(row => row.startsWith(start)),
          `${file}: ${name}`,
        ).toBe(true)
      }
      if (file.startsWith('test/faults/')) expect(listed, file).not.toEqual([])
    }
    for (const file of Object.values(FAULT_ROWS).flat()) expect(existsSync(root + file), file).toBe(true)
  })
})
