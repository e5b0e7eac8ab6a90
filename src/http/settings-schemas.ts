import * as z from 'zod'
import type * as wire from '../domain/wire.ts'
import { described } from './described.ts'
import { exact } from './exact.ts'
import * as s from './schemas.ts'

const NAMES = ['model', 'base_url', 'key', 'assessor_model', 'review', 'review_timeout_ms', 'gate'] as const
const name = exact<wire.SettingName>()(z.enum(NAMES))

const source = exact<wire.SettingSource>()(
  described(z.enum(['flag', 'environment', 'page', 'file', 'default']), 'where it comes from, by precedence'),
)
const locked_by = described(z.string(), 'the option or variable that fixes it').exactOptional()

const settingOf = <S extends z.ZodType>(value: S, description: string) =>
  z.object({
    value: described(value, description),
    source,
    locked_by,
    saved: described(value, 'what the page holds, if something takes precedence').exactOptional(),
  })

const key = exact<wire.KeyView>()(
  z.object({
    is_set: z.boolean(),
    source,
    locked_by,
    variable: described(z.string(), "the provider's own variable, if the key comes from there").exactOptional(),
    ends_with: described(z.string(), 'its last four characters, if it has at least 20').exactOptional(),
  }),
)

const MODEL = 'demo, openai:NAME, anthropic:NAME, google:NAME or openai-compatible:NAME'

export const settings = exact<wire.SettingsAnswer>()(
  z
    .object({
      version: described(z.string(), 'send it as If-Match'),
      scope: described(z.enum(['server', 'node']), '`node`: other servers on the same database have their own'),
      settings: exact<wire.SettingsView>()(
        z.object({
          model: settingOf(z.string(), MODEL),
          base_url: settingOf(z.string().nullable(), "of the model's API; null: the provider's own"),
          key: described(key, 'the API key of the model, which is never sent back'),
          assessor_model: settingOf(z.string().nullable(), 'the model that judges; null: the same'),
          toolset: settingOf(s.toolset, 'the tools of new conversations'),
          review: settingOf(z.boolean(), 'whether a person reviews plans in them'),
          review_timeout_ms: settingOf(z.int().nullable(), 'the deadline of their reviews; null: none'),
          gate: settingOf(z.boolean(), 'whether the agent is kept at open tasks in new conversations'),
        }),
      ),
      problems: exact<readonly wire.SettingsProblem[]>()(
        z.array(z.object({ field: name.exactOptional(), message: z.string() })),
      ),
    })
    .meta({ id: 'Settings', description: 'The settings of the server, and where each comes from' }),
)

export const settingsChange = exact<wire.SettingsChange>()(
  z
    .strictObject({
      model: described(z.string(), MODEL),
      base_url: described(z.string(), 'an http or https URL; another one erases the key'),
      key: described(z.string(), '8 to 500 characters; kept on the server, in a file for its owner only'),
      assessor_model: described(z.string(), MODEL),
      review: z.boolean(),
      review_timeout_ms: z.int().nullable(),
      gate: z.boolean(),
      unset: described(z.array(name), 'what the page no longer sets'),
    })
    .partial()
    .meta({ id: 'SettingsChange' }),
)

export const triedModel = z.strictObject({ which: z.enum(['model', 'assessor_model']).default('model') })

export const tryAnswer = exact<wire.TryAnswer>()(
  z
    .discriminatedUnion('ok', [
      z.object({ ok: z.literal(true), model: z.string(), duration_ms: z.int() }),
      z.object({
        ok: z.literal(false),
        model: z.string(),
        code: described(z.string(), 'as of a turn that failed'),
        message: z.string(),
        todo: described(z.string(), 'what a person can do about it'),
        url: described(z.string(), 'the URL that was tried').exactOptional(),
      }),
    ])
    .meta({ id: 'TriedModel', description: 'What one small call of a model came to' }),
)
