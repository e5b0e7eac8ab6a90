import { expect, it } from 'vitest'
import { cleanEnvironment, pageEnvironment } from './environment.ts'

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

const HOST = {
  PATH: '/bin',
  HOME: '/home/ann',
  LANG: 'en',
  XDG_CONFIG_HOME: '/home/ann/.config',
  RUNSHEET_PORT: '0',
  CLAUDE_CODE_MESSAGING_TOKEN: 'secret',
  ANTHROPIC_API_KEY: 'a',
  OPENAI_API_KEY: 'o',
  NODE_OPTIONS: '--inspect',
  TMPDIR: '/tmp/ann',
}

it("the page's server gets no more of the host's environment than it needs", () => {
  const { PATH, HOME, LANG, XDG_CONFIG_HOME, RUNSHEET_PORT, TMPDIR } = HOST
  expect(pageEnvironment(HOST)).toEqual({ PATH, HOME, LANG, XDG_CONFIG_HOME, RUNSHEET_PORT, TMPDIR })
})

it('it gets the keys of the providers that are configured, and no others', () => {
  expect(pageEnvironment({ ...HOST, RUNSHEET_MODEL: 'openai:gpt' })).toMatchObject({ OPENAI_API_KEY: 'o' })
  expect(pageEnvironment({ ...HOST, RUNSHEET_MODEL: 'openai:gpt' })).not.toHaveProperty('ANTHROPIC_API_KEY')
  const both = { ...HOST, RUNSHEET_MODEL: 'openai:gpt', RUNSHEET_ASSESSOR_MODEL: 'anthropic:claude' }
  expect(pageEnvironment(both)).toMatchObject({ OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a' })
})
