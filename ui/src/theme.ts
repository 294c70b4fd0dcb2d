import { type CSSVariablesResolver, createTheme } from '@mantine/core'

/** Mantine wants ten shades; its buttons use the sixth in both schemes. */
const accent = [
  '#e8eefc',
  '#d3defa',
  '#a9bff4',
  '#8aa9ff',
  '#5f85ea',
  '#3f69de',
  '#2f5bd7',
  '#254bb8',
  '#1f409d',
  '#183480',
] as const

/** Fields, menus and dialogs of the dark scheme are drawn from these shades. */
const dark = [
  '#ececea',
  '#c9cacc',
  '#a2a4ab',
  '#898c94',
  '#3a3d43',
  '#2a2c30',
  '#16171a',
  '#1a1b1e',
  '#131416',
  '#0e0f11',
] as const

export const theme = createTheme({
  fontFamily: 'var(--font)',
  fontFamilyMonospace: 'var(--mono)',
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 5 },
  autoContrast: true,
  respectReducedMotion: true,
  colors: { accent, dark },
  defaultRadius: 6,
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  cursorType: 'pointer',
})

const roles = {
  '--mantine-color-body': 'var(--bg)',
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-dimmed': 'var(--muted)',
  '--mantine-color-placeholder': 'var(--faint)',
  '--mantine-color-default': 'var(--panel)',
  '--mantine-color-default-hover': 'var(--sunken)',
  '--mantine-color-default-border': 'var(--line-strong)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-error': 'var(--block)',
  '--mantine-color-anchor': 'var(--accent)',
}

/** Mantine's own colours follow the roles in theme.css. */
export const mantineVariables: CSSVariablesResolver = () => ({ variables: {}, light: roles, dark: roles })

/** The look of code in an input. */
export const MONO = { input: { fontFamily: 'var(--mono)', fontSize: '12.5px' } }
