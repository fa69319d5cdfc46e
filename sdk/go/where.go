package causeway

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Filter is a `where`, created by [Where]. The zero Filter matches all records.
type Filter struct {
	text string
	err  error
}

// Where creates a filter from a template. Each `?` outside of quotes stands for one of the values, in their order:
//
//	causeway.Where("status = ? AND (hireDate >= ? OR lastName IN (?))", "Active", causeway.Date{2024, 1, 1}, names)
//
// Values are texts, numbers, booleans, [time.Time], [Date], text marshalers, slices of these (for IN), and filters,
// which are put in parentheses. Values are quoted, so a value never becomes a part of the filter. Faults are values of
// other types, nil, empty slices, and a wrong number of values. [Filter.Text] and each call with the filter return them.
func Where(template string, values ...any) Filter {
	text, err := fill(template, values)
	if err != nil {
		return Filter{err: fmt.Errorf("causeway: where %q: %w", template, err)}
	}
	return Filter{text: text}
}

// Text returns the filter as it is sent, or its fault.
func (f Filter) Text() (string, error) { return f.text, f.err }

// String returns the filter as it is sent; an empty text for an invalid one.
func (f Filter) String() string { return f.text }

// Date is a calendar day without a time zone.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

// DateOf returns the day of a time in the time's own zone.
func DateOf(at time.Time) Date {
	year, month, day := at.Date()
	return Date{year, month, day}
}

// String returns the date in ISO 8601.
func (d Date) String() string { return fmt.Sprintf("%04d-%02d-%02d", d.Year, d.Month, d.Day) }

// MarshalText returns the date in ISO 8601.
func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// fill inserts the values into a template.
func fill(template string, values []any) (string, error) {
	pieces, err := split(template)
	if err != nil {
		return "", err
	}
	if places := len(pieces) - 1; places != len(values) {
		return "", fmt.Errorf("there are %d places for values, and %d values", places, len(values))
	}
	var text strings.Builder
	text.WriteString(pieces[0])
	for index, value := range values {
		literal, err := literalOf(value, text.String())
		if err != nil {
			return "", fmt.Errorf("value %d: %w", index+1, err)
		}
		text.WriteString(literal)
		text.WriteString(pieces[index+1])
	}
	return text.String(), nil
}

// split splits a template at its placeholders: each `?` that is neither in a text nor in a name in backticks.
func split(template string) ([]string, error) {
	var pieces []string
	var quote byte
	begin := 0
	for at := range len(template) {
		switch character := template[at]; {
		case quote != 0:
			if character == quote {
				quote = 0
			}
		case character == '\'' || character == '`':
			quote = character
		case character == '?':
			if !standsAlone(template, at) {
				return nil, fmt.Errorf("the ? at %d touches a word or a quote, which would run together with the value", at)
			}
			pieces = append(pieces, template[begin:at])
			begin = at + 1
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c is never closed", quote)
	}
	return append(pieces, template[begin:]), nil
}

// touching are the characters that would form one word, number or text with an adjacent value.
var touching = regexp.MustCompile("[\\pL\\pN_$@.'`+-]")

func standsAlone(template string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(template[:at])
	after, _ := utf8.DecodeRuneInString(template[at+1:])
	return !touching.MatchString(string(before)) && !touching.MatchString(string(after))
}

// behindIn matches the text before a placeholder for a list; behindParenthesis matches it if the placeholder is already
// in parentheses.
var (
	behindIn          = regexp.MustCompile(`(?i)\bIN\s*$`)
	behindParenthesis = regexp.MustCompile(`(?i)\bIN\s*\([^()]*$`)
)

// literalOf returns the literal of one value, for a placeholder after the given text.
func literalOf(value any, before string) (string, error) {
	if filter, ok := value.(Filter); ok {
		if filter.err == nil && filter.text == "" {
			return "", fmt.Errorf("a filter that filters nothing has no place in another")
		}
		return "(" + filter.text + ")", filter.err
	}
	if isList(value) {
		return listLiteral(reflect.ValueOf(value), before)
	}
	return scalarLiteral(value)
}

func isList(value any) bool {
	if _, ok := value.(encoding.TextMarshaler); ok || value == nil {
		return false
	}
	kind := reflect.TypeOf(value).Kind()
	return kind == reflect.Slice || kind == reflect.Array
}

func listLiteral(list reflect.Value, before string) (string, error) {
	form := "(%s)"
	switch {
	case list.Type().Elem().Kind() == reflect.Uint8:
		return "", fmt.Errorf("a %s is no value of a filter; convert it to a string", list.Type())
	case behindIn.MatchString(before):
	case isInParentheses(before):
		form = "%s"
	default:
		return "", fmt.Errorf("a list stands behind IN only")
	}
	if list.Len() == 0 {
		return "", fmt.Errorf("the list is empty, and IN needs one value at least")
	}
	literals := make([]string, list.Len())
	for index := range literals {
		literal, err := scalarLiteral(list.Index(index).Interface())
		if err != nil {
			return "", fmt.Errorf("member %d: %w", index+1, err)
		}
		literals[index] = literal
	}
	return fmt.Sprintf(form, strings.Join(literals, ", ")), nil
}

// isInParentheses reports whether a placeholder after the text is in parentheses. It ignores text in quotes.
func isInParentheses(before string) bool {
	return behindParenthesis.MatchString(quoted.ReplaceAllString(before, "0"))
}

var quoted = regexp.MustCompile("'[^']*'|`[^`]*`")

// scalarLiteral returns the literal of a value in the query language.
func scalarLiteral(value any) (string, error) {
	switch value := value.(type) {
	case time.Time:
		return timeLiteral(value)
	case Date:
		return dateLiteral(value)
	case json.Number:
		return numberLiteral(value)
	case *big.Int:
		if value != nil {
			return value.String(), nil
		}
	}
	reflected := reflect.ValueOf(value)
	if !reflected.IsValid() || reflected.Kind() == reflect.Pointer && reflected.IsNil() {
		return "", fmt.Errorf("nil equals nothing; write IS NULL or IS NOT NULL")
	}
	if marshaler, ok := value.(encoding.TextMarshaler); ok {
		text, err := marshaler.MarshalText()
		if err != nil {
			return "", err
		}
		return textLiteral(string(text))
	}
	switch reflected.Kind() {
	case reflect.Pointer, reflect.Interface:
		return scalarLiteral(reflected.Elem().Interface())
	case reflect.String:
		return textLiteral(reflected.String())
	case reflect.Bool:
		return strings.ToUpper(strconv.FormatBool(reflected.Bool())), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(reflected.Int(), 10), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(reflected.Uint(), 10), nil
	case reflect.Float32, reflect.Float64:
		return floatLiteral(reflected)
	}
	return "", fmt.Errorf("a %T is no value of a filter", value)
}

func textLiteral(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", fmt.Errorf("the text is not UTF-8, so it cannot be sent as it is")
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", nil
}

func floatLiteral(value reflect.Value) (string, error) {
	if math.IsNaN(value.Float()) || math.IsInf(value.Float(), 0) {
		return "", fmt.Errorf("%v is no number of a filter", value.Float())
	}
	return strconv.FormatFloat(value.Float(), 'g', -1, value.Type().Bits()), nil
}

var decimal = regexp.MustCompile(`^-?\d+(\.\d+)?([eE][+-]?\d+)?$`)

func numberLiteral(number json.Number) (string, error) {
	if !decimal.MatchString(number.String()) {
		return "", fmt.Errorf("%q is no number", number.String())
	}
	return number.String(), nil
}

func timeLiteral(at time.Time) (string, error) {
	at = at.UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return "", fmt.Errorf("the year %d cannot be written in a filter", at.Year())
	}
	return at.Format(time.RFC3339Nano), nil
}

// dateLiteral rejects days that do not exist, such as 30 February.
func dateLiteral(date Date) (string, error) {
	if _, err := time.Parse(time.DateOnly, date.String()); err != nil {
		return "", fmt.Errorf("%s is no date", date)
	}
	return date.String(), nil
}

// EscapeLike escapes a text so that LIKE finds it literally, including `%`, `_` and `\`: `causeway.EscapeLike(start) +
// "%"`.
func EscapeLike(text string) string { return likeEscapes.Replace(text) }

var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)
