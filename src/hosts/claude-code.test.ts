import { expect, it } from 'vitest'
import type { Installation, Place } from './host.ts'
import { claudeCode } from './claude-code.ts'

const PLACE: Place = {
  scope: 'user',
  home: '/home/ann',
  project: '/work',
  environment: {},
  platform: 'linux',
  read: () => undefined,
}
const INSTALLED: Installation = {
  program: ['/usr/bin/node', '/opt/run sheet/runsheet.js'],
  data: '/home/ann/.runsheet',
  features: [],
}

it('the setting for the status line is printed, and not written', () => {
  expect(claudeCode.notes(PLACE, INSTALLED)).toContain(
    `To see the plan in its status line, put this into /home/ann/.claude/settings.json: "statusLine": {"type":"command","command":"/usr/bin/node '/opt/run sheet/runsheet.js' status --line --data /home/ann/.runsheet"}`,
  )
  expect(
    claudeCode.notes({ ...PLACE, scope: 'project' }, { ...INSTALLED, program: ['runsheet'], data: undefined }),
  ).toContain(
    'To see the plan in its status line, put this into /work/.claude/settings.json: "statusLine": {"type":"command","command":"runsheet status --line"}',
  )
  expect(JSON.stringify(claudeCode.settings(PLACE, INSTALLED))).not.toContain('statusLine')
})
