import { expect, it } from 'vitest'
import { checkScene } from '../../test/support/check-scene.ts'
import { LIMITS } from './fingerprint.ts'
import type { SurveyRequest } from './survey.ts'
import { surveyed } from './surveyor.ts'

const request = (root: string): SurveyRequest => ({
  root,
  git: undefined,
  besides: 'fingerprint',
  globs: ['**'],
  paths: [],
  named: [],
  exclude: [],
  limits: LIMITS,
})

it('[CR21] surveys of several workspaces at once do not mix', async () => {
  const folders = Array.from({ length: 5 }, (_, index) => {
    const scene = checkScene()
    scene.write(`${index}.txt`, 'x')
    return scene.folder
  })
  const found = await Promise.all(folders.map(folder => surveyed(request(folder))))
  expect(found.map(({ files }) => [...(files?.keys() ?? [])])).toEqual(folders.map((_, index) => [`${index}.txt`]))
})

it('[CR21] a survey that kills the worker is an error, and the next one gets another', async () => {
  const { folder } = checkScene()
  const bad = { ...request(folder), globs: [undefined as unknown as string] }
  await expect(surveyed(bad)).rejects.toThrow()
  expect(await surveyed(request(folder))).toMatchObject({ fingerprint: undefined, files: new Map() })
})
