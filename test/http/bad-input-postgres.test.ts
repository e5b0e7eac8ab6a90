import { badInput } from '../support/bad-input.ts'
import { describePostgres } from '../support/postgres-store.ts'

describePostgres('on PostgreSQL', () => badInput('postgres'))
