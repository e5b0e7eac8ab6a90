import { expect, it } from 'vitest'
import { cleanEnvironment } from './clean-environment.ts'

it('[TG13] a program gets what it needs to start, and none of our tokens and keys', () => {
  const needed = { PATH: '/bin', HOME: '/home/ann', LANG: 'de_DE.UTF-8', TMPDIR: '/tmp/ann' }
  const secrets = { RUNSHEET_TOKEN: 't', RUNSHEET_MODEL_KEY: 'k', OPENAI_API_KEY: 'o', GITHUB_TOKEN: 'g' }
  const hooks = { NODE_OPTIONS: '--require x', LD_PRELOAD: 'x', GIT_DIR: 'x' }
  expect(cleanEnvironment({ ...needed, ...secrets, ...hooks, EMPTY: undefined }, 'linux')).toEqual(needed)
})

it('[TG13] on Windows names are compared without case', () => {
  const needed = { Path: 'C:\\bin', SystemRoot: 'C:\\Windows', TEMP: 'C:\\Temp' }
  expect(cleanEnvironment({ ...needed, Runsheet_Token: 't' }, 'win32')).toEqual(needed)
})
