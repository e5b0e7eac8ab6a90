import { benchCalls } from './server-calls.ts'
import { benchSessions } from './server-sessions.ts'
import { benchStreams } from './server-streams.ts'
import { benchWaiting } from './server-waiting.ts'
import { printMachine } from './table.ts'

printMachine('Over loopback; ratios are medians of rounds that alternate within this run.')

const only = process.argv[2]
if (!only || only === 'streams') await benchStreams()
if (!only || only === 'calls') await benchCalls()
if (!only || only === 'waiting') await benchWaiting()
if (!only || only === 'sessions') await benchSessions()
