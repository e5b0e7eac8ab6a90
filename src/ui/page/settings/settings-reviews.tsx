import type { ReactElement } from 'react'
import type { SettingsChange, SettingsView, SettingView } from 'runsheet/client'
import { localeOf, type SettingsHandle } from 'runsheet/react'
import { englishToolsets, toolsetName } from '../texts/english-small-parts.ts'
import { keep } from '../parts/keep.ts'
import type { PageStrings } from '../texts/page-strings.ts'
import { Hint, Locked, SwitchRow } from './settings-parts.tsx'
import type { SettingsStrings } from '../texts/english-settings.ts'
import { spanText } from '../thread/span-text.ts'
import { SETTINGS_CHANGED } from './use-models.ts'

interface ReviewSettingsProps {
  readonly settings: SettingsView
  readonly handle: SettingsHandle
  readonly strings: PageStrings
  readonly words: SettingsStrings
}

const MINUTE = 60_000
const DEADLINES = [2 * MINUTE, 10 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE, 7 * 24 * 60 * MINUTE]

export function ReviewSettings({ settings, handle, strings, words }: ReviewSettingsProps): ReactElement {
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
          <strong>
            {toolsetName({ toolset: toolset.value, review: review.value }, strings.toolsets ?? englishToolsets)}
          </strong>
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
