import { runCli } from '../support/children.ts'
import { plan } from './agents.ts'
import { abandon, visit } from './hosts.ts'
import { chat, edit, look } from './people.ts'
import { follow, neverRead } from './readers.ts'
import { cutOff, misuse } from './strangers.ts'
import type { Actor, World } from './world.ts'

/** What the load asks all the time, as its actors name it. */
export const ASKED = ['write', 'read', 'search', 'list', 'pending list', 'MCP', 'bad input']

/** The load, bounded in rate and in number. `place` is where `runsheet export` finds the conversations. */
export const loadOn = (place: readonly string[]): readonly Actor[] => [
  { name: 'plans', perSecond: 4, most: 40, fills: true, work: plan },
  { name: 'turns', perSecond: 0.5, most: 20, fills: true, work: chat },
  { name: 'edits', perSecond: 6, most: 20, work: edit },
  { name: 'looks', perSecond: 8, most: 20, work: look },
  { name: 'followers', perSecond: 4, most: 40, work: follow },
  { name: 'readers that never read', perSecond: 0.3, most: 10, work: neverRead },
  { name: 'abandoned MCP sessions', perSecond: 4, most: 20, fills: true, work: abandon },
  { name: 'MCP visits', perSecond: 1, most: 10, work: visit },
  { name: 'bad requests', perSecond: 3, most: 20, work: misuse },
  { name: 'cut requests', perSecond: 1, most: 10, work: cutOff },
  { name: 'exports', perSecond: 1 / 20, most: 1, work: world => exported(world, place) },
]

async function exported(world: World, place: readonly string[]): Promise<void> {
  const child = runCli(['export', world.recentSession(), ...place])
  const { code, stderr } = await child.ended
  // A conversation whose first write is still under way is not there yet.
  if (code !== 0 && !stderr.includes('no conversation')) throw new Error(stderr)
}
