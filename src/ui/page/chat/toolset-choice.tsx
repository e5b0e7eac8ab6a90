import { ChevronDown } from 'lucide-react'
import { type ReactElement, useId, useRef } from 'react'
import type { Policy, ToolsetName } from 'runsheet/client'
import { localeOf } from 'runsheet/react'
import type { ShownPolicy } from './models.ts'
import { type LaterStrings, useLaterStrings } from '../texts/english-later.ts'
import { usePageStrings } from '../texts/strings.ts'
import './chat.css'

interface ToolsetChoiceProps {
  readonly chosen: ShownPolicy
  readonly policies: readonly ShownPolicy[]
  readonly isDisabled: boolean
  readonly onChoose: (toolset: ToolsetName) => void
}

const CHECKS = ['review', 'assessor', 'gate'] as const

const GAP_PX = 6

export function ToolsetChoice(props: ToolsetChoiceProps): ReactElement {
  const strings = usePageStrings()
  const { chosen, policies, isDisabled, onChoose } = props
  const words = useLaterStrings().toolsets
  const locale = localeOf(strings.panels)
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLFieldSetElement>(null)
  const order = Object.keys(words.of)
  const choices = policies.toSorted((a, b) => order.indexOf(a.toolset) - order.indexOf(b.toolset))
  const place = (): void => {
    const at = button.current?.getBoundingClientRect()
    const { style, offsetWidth = 0 } = list.current ?? {}
    if (!at || !style) return
    style.left = `${Math.max(GAP_PX, Math.min(at.left, innerWidth - offsetWidth - GAP_PX))}px`
    style.bottom = `${innerHeight - at.top + GAP_PX}px`
    style.maxHeight = `${at.top - 2 * GAP_PX}px`
    list.current?.querySelector<HTMLElement>(':checked')?.focus()
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        className="app-toolset"
        popoverTarget={id}
        disabled={isDisabled}
        title={strings.toolset}
      >
        <span className="rs-sr">{strings.toolset}: </span>
        {toolsetName(chosen, words)} <ChevronDown size={14} aria-hidden="true" />
      </button>
      {!chosen.review && (
        <span className="app-toolset-note" role="status" title={words.noReview + words.noReviewWhy}>
          {words.noReview}
          <span className="app-toolset-why">{words.noReviewWhy}</span>
        </span>
      )}
      <fieldset
        ref={list}
        id={id}
        popover="auto"
        className="app-toolsets"
        onToggle={({ newState }) => newState === 'open' && place()}
      >
        <legend>{words.heading}</legend>
        {choices.map(each => (
          <label key={each.toolset}>
            <input
              type="radio"
              name={id}
              checked={each.toolset === chosen.toolset}
              aria-describedby={`${id}-${each.toolset}`}
              onChange={() => onChoose(each.toolset)}
              onClick={({ detail }) => detail > 0 && list.current?.hidePopover()}
              onKeyDown={event => {
                if (event.key !== 'Enter') return
                event.preventDefault()
                list.current?.hidePopover()
              }}
            />
            <span>
              <strong>{toolsetName(each, words)}</strong> <code>{each.toolset}</code>
              <span className="app-toolset-about" id={`${id}-${each.toolset}`}>
                {aboutOf(each, words, locale)}
                <span className="app-toolset-checks">
                  {!each.review && <span className="app-toolset-off">{words.noReview}</span>}
                  {CHECKS.filter(check => each[check]).map(check => (
                    <span key={check}>{words[check]}</span>
                  ))}
                </span>
              </span>
            </span>
          </label>
        ))}
      </fieldset>
    </>
  )
}

function aboutOf(policy: ShownPolicy, words: LaterStrings['toolsets'], locale: string): string {
  const { toolset, review, review_timeout_ms: deadline, assessor, gate } = policy
  return [
    words.of[toolset][1],
    ...(review ? [words.approve] : [words.startsAtOnce]),
    ...(review && deadline !== null ? [words.deadline(spanText(deadline, locale))] : []),
    ...(assessor ? [words.judged] : []),
    ...(gate ? [words.goesOn] : []),
  ].join(words.space)
}

const MINUTE = 60_000

const UNITS = [
  ['day', 24 * 60 * MINUTE],
  ['hour', 60 * MINUTE],
  ['minute', MINUTE],
  ['second', 1_000],
] as const

/** Uses the largest unit that divides the span. */
export function spanText(ms: number, locale: string): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? (['second', 1_000] as const)
  return new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(ms / size)
}

export const toolsetName = (
  { toolset, review }: Pick<Policy, 'toolset' | 'review'>,
  words: LaterStrings['toolsets'],
): string => (toolset === 'runsheet' && !review ? words.unreviewed : (words.of[toolset][0] ?? toolset))
