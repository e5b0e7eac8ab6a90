import type { ReactElement } from 'react'
import type { SettingsChange, SettingsView, SettingView } from 'runsheet/client'
import { localeOf, type SettingsHandle } from 'runsheet/react'
import { keep } from '../storage.ts'
import { Hint, Locked, SwitchRow } from './fields.tsx'
import { spanText, toolsetName } from '../chat/toolset-choice.tsx'
import { SETTINGS_CHANGED } from '../chat/models.ts'
import { type LaterStrings, useLaterStrings } from '../texts/english-later.ts'
import { usePageStrings } from '../texts/strings.ts'

interface ReviewSettingsProps {
  readonly settings: SettingsView
  readonly handle: SettingsHandle
  readonly words: LaterStrings['settings']
}

const MINUTE = 60_000
const DEADLINES = [2 * MINUTE, 10 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE, 7 * 24 * 60 * MINUTE]

export function ReviewSettings({ settings, handle, words }: ReviewSettingsProps): ReactElement {
  const strings = usePageStrings()
  const { toolset, review, review_timeout_ms, gate } = settings
  const save = async (change: SettingsChange): Promise<void> => {
    if (await handle.save(change)) keep(SETTINGS_CHANGED, String(Date.now()))
  }
  const reset = (name: 'review' | 'review_timeout_ms' | 'gate', { source, locked_by }: SettingView<unknown>) => (
    <>
      {source === 'file' && <Hint>{words.fromFile}</Hint>}
      {source === 'page' && locked_by === undefined && (
        <button type="button" className="app-set-link" onClick={() => void save({ unset: [name] })}>
          {words.reset}
        </button>
      )}
    </>
  )
  const onOrOff = (saved: boolean | undefined): string | undefined =>
    saved === undefined ? undefined : saved ? words.on : words.off
  const value = review_timeout_ms.value
  const choices = value === null || DEADLINES.includes(value) ? DEADLINES : [...DEADLINES, value].sort((a, b) => a - b)
  return (
    <>
      <div className="app-set-row">
        <p className="app-set-switch">
          <span>{strings.toolset}</span>
          <strong>{toolsetName({ toolset: toolset.value, review: review.value }, useLaterStrings().toolsets)}</strong>
        </p>
        <Hint>{toolset.source === 'file' ? words.fromFile : words.toolsetHint(toolset.locked_by)}</Hint>
      </div>
      <SwitchRow
        label={words.review}
        isOn={review.value}
        isDisabled={review.locked_by !== undefined}
        onSwitch={isOn => void save({ review: isOn })}
      >
        <Hint>{review.value ? words.reviewHint : <strong className="app-set-warn">{words.noReview}</strong>}</Hint>
        <Locked words={words} by={review.locked_by} saved={onOrOff(review.saved)} />
        {reset('review', review)}
      </SwitchRow>
      <div className="app-set-row">
        <label className="app-set-switch">
          <span>{words.deadline}</span>
          <select
            className="rs-input"
            value={String(value)}
            disabled={review_timeout_ms.locked_by !== undefined}
            onChange={({ target }) =>
              void save({ review_timeout_ms: target.value === 'null' ? null : Number(target.value) })
            }
          >
            <option value="null">{words.noDeadline}</option>
            {choices.map(each => (
              <option key={each} value={each}>
                {spanText(each, localeOf(strings.panels))}
              </option>
            ))}
          </select>
        </label>
        <Hint>{words.deadlineHint}</Hint>
        <Locked words={words} by={review_timeout_ms.locked_by} />
        {reset('review_timeout_ms', review_timeout_ms)}
      </div>
      <SwitchRow
        label={words.gate}
        isOn={gate.value}
        isDisabled={gate.locked_by !== undefined}
        onSwitch={isOn => void save({ gate: isOn })}
      >
        <Hint>{words.gateHint}</Hint>
        <Locked words={words} by={gate.locked_by} />
        {reset('gate', gate)}
      </SwitchRow>
      <Hint>{words.newOnly}</Hint>
    </>
  )
}
