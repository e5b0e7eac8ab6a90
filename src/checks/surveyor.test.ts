import { join } from 'node:path'
import { expect, it } from 'vitest'
import { checkScene } from '../../test/support/check-scene.ts'
import { LIMITS } from './fingerprint.ts'
import { NO_COVERS } from './scope.ts'
import type { LookRequest } from './survey.ts'
import { looked } from './surveyor.ts'

const request = (root: string): LookRequest => ({
  root,
  git: undefined,
  protect: [],
  covers: NO_COVERS,
  records: [],
  recordFolder: join(root, '../files'),
  exclude: [],
  limits: LIMITS,
})

it('looks at several workspaces at once do not mix', async () => {
  const folders = Array.from({ length: 5 }, (_, index) => {
    const scene = checkScene()
    scene.write(`${index}.txt`, 'x')
    return scene.folder
  })
  const alone = []
  for (const folder of folders) alone.push((await looked(request(folder))).fingerprint)
  const found = await Promise.all(folders.map(folder => looked(request(folder))))
  expect(found.map(({ fingerprint }) => fingerprint)).toEqual(alone)
  expect(new Set(alone)).toHaveLength(5)
})

it('a look that kills the worker is an error, and the next one gets another', async () => {
  const { folder } = checkScene()
  const bad = { ...request(folder), protect: [undefined as unknown as string] }
  await expect(looked(bad)).rejects.toThrow()
  expect(await looked(request(folder))).toMatchObject({ fingerprint: expect.any(String) })
})
