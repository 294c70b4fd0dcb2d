import { Combobox, TextInput, useCombobox } from '@mantine/core'
import { IconFilter } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { isTyping, usePageKeys } from '../../frame/keyboard/shortcuts.ts'
import { MONO } from '../../theme.ts'
import { filterFields, parseFilter } from './filter.ts'

/** A filter in text with completion. `/` moves the focus here. */
export function FilterBar({
  value,
  onChange,
}: Readonly<{ value: string; onChange: (value: string) => void }>) {
  const [typed, setTyped] = useState(value)
  const combobox = useCombobox({ onDropdownClose: () => combobox.resetSelectedOption() })
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    // The address follows with a delay; while someone types it must not take letters away.
    if (document.activeElement !== input.current) setTyped(value)
  }, [value])
  usePageKeys((event) => {
    if (event.key !== '/' || isTyping(event)) return
    event.preventDefault()
    input.current?.focus()
  })
  const problem = parseFilter(typed).find((term) => term.problem !== undefined)?.problem
  const options = completions(typed)
  const change = (text: string) => {
    setTyped(text)
    onChange(text)
    combobox.openDropdown()
  }
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(option) => change(`${typed.slice(0, lastWordStart(typed))}${option}`)}
    >
      <Combobox.Target>
        <TextInput
          ref={input}
          aria-label="Filter"
          placeholder={'decision:block agent:claude-code tool:Bash ms>200 "rm -rf"'}
          leftSection={<IconFilter size={15} aria-hidden />}
          styles={MONO}
          value={typed}
          error={problem}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          onFocus={() => combobox.openDropdown()}
          onBlur={() => combobox.closeDropdown()}
          onKeyDown={({ key, currentTarget }) => {
            if (key === 'Escape') currentTarget.blur()
          }}
          autoComplete="off"
          spellCheck={false}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={options.length === 0}>
        <Combobox.Options>
          {options.map(({ text, about }) => (
            <Combobox.Option key={text} value={text}>
              <code>{text}</code> {about}
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  )
}

function lastWordStart(text: string): number {
  return text.lastIndexOf(' ') + 1
}

function completions(typed: string): readonly { readonly text: string; readonly about: string }[] {
  const word = typed.slice(lastWordStart(typed))
  const colon = word.indexOf(':')
  if (colon < 0)
    return Object.entries(filterFields)
      .filter(([field]) => field.startsWith(word))
      .map(([field, { about }]) => ({ text: `${field}:`, about }))
  const field = word.slice(0, colon)
  const started = word.slice(colon + 1)
  const values = filterFields[field]?.values ?? []
  if (values.includes(started)) return []
  return values
    .filter((value) => value.toLowerCase().startsWith(started.toLowerCase()))
    .map((value) => ({ text: `${field}:${value} `, about: '' }))
}
