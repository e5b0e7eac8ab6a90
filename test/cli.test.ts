import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = (file: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(process.execPath, [fileURLToPath(new URL(`../${file}`, import.meta.url)), ...args])

describe.each(['src/cli/main.ts', 'dist/cli/main.js'])('%s', file => {
  it('says what there is, and shows a plan from proposal to the last step', async () => {
    const { stdout, stderr } = await run(file)
    expect(stderr).toBe('')
    expect(stdout).toContain('npm test')
    expect(stdout).toContain('1 kept, 1 reworded, 1 added, 1 removed')
    expect(stdout).toMatch(/◐ 1\. Collect the figures\n {2}○ 2\. Write the report, two pages at most/)
    expect(stdout).toMatch(/● 3\. Send it to Ann .*\n {2}0 remaining/)
  })

  it('answers an unknown word or option in one line', async () => {
    for (const word of ['frobnicate', '--frobnicate']) {
      await expect(run(file, word)).rejects.toMatchObject({
        code: 2,
        stderr: 'runsheet: I do not know frobnicate. Try: runsheet --help\n',
      })
    }
  })
})
