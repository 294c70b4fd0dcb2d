import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useEffectEvent, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import styles from './plot.module.css'

export interface PlotProps {
  /** Called anew for each theme: a canvas does not follow the roles of theme.css by itself. */
  readonly options: (color: (role: string) => string) => Omit<uPlot.Options, 'width'>
  /** The times in seconds, then the values of each series. */
  readonly data: uPlot.AlignedData
  /** The position that the crosshair points at; undefined without one. */
  readonly onPoint: (index: number | undefined) => void
}

/** A chart as wide as its place. It shows pictures only: the view offers the values as text. */
export function Plot({ options, data, onPoint }: PlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const scheme = useComputedColorScheme('light')
  const point = useEffectEvent(onPoint)
  const makeOptions = useEffectEvent(options)
  const firstData = useEffectEvent(() => data)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another theme has other colours
  useEffect(() => {
    const place = box.current
    if (place === null) return
    const made = makeOptions((role) => roleColor(place, role))
    const setCursor = ({ cursor }: uPlot) => point(cursor.idx ?? undefined)
    const drawn = new uPlot(
      { ...made, width: place.clientWidth, hooks: { ...made.hooks, setCursor: [setCursor] } },
      firstData(),
      place,
    )
    plot.current = drawn
    const observer = new ResizeObserver(() =>
      drawn.setSize({ width: place.clientWidth, height: made.height }),
    )
    observer.observe(place)
    return () => {
      observer.disconnect()
      drawn.destroy()
    }
  }, [scheme])
  useEffect(() => plot.current?.setData(data), [data])
  return <div ref={box} className={styles.plot} aria-hidden />
}

/** A canvas takes a colour of the scheme in force, and no role. */
function roleColor(place: HTMLElement, role: string): string {
  place.style.color = `var(--${role})`
  return getComputedStyle(place).color
}
