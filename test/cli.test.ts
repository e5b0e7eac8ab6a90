import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = (file: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> =>
  promisify(execFile)(process.execPath, [fileURLToPath(new URL(`../${file}`, import.meta.url)), ...args])

describe.each(['src/cli/main.ts', 'dist/cli/main.js'])('%s', file => {
  it('[CL5] says what it can do', async () => {
    const { stdout } = await run(file, '--help')
    expect(stdout).toContain('serve')
    expect(stdout).toContain('url')
  })

  it('[CL6] answers an unknown word or option in one line', async () => {
    for (const word of ['frobnicate', '--frobnicate']) {
      await expect(run(file, word)).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^runsheet: .*frobnicate.*Try: runsheet --help\n$/),
      })
    }
  })
})
