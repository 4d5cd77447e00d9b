package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// decoder is the type-driven half of strict input: it goes exactly as deep as
// the Go type does.
type decoder struct {
	scanner
	tolerant bool  // note missing keys and null arrays instead of judging them
	late     error // the first one noted
}

// fieldRule is what a struct field adds to its Go type.
type fieldRule struct {
	optional bool // the key may be missing (omitempty)
	item     bool // an item of an array
	maxItems int  // most items of an array; 0: no limit
}

func (d *decoder) value(v reflect.Value, rule fieldRule) error {
	if d.peek() == 'n' {
		return d.null(v, rule)
	}
	if raw, ok := v.Addr().Interface().(json.Unmarshaler); ok {
		return d.unmarshaler(raw)
	}
	switch v.Kind() {
	case reflect.Pointer:
		target := reflect.New(v.Type().Elem())
		if err := d.value(target.Elem(), rule); err != nil {
			return err
		}
		v.Set(target)
		return nil
	case reflect.Struct:
		return d.object(v)
	case reflect.Slice:
		return d.array(v, rule.maxItems)
	case reflect.String:
		return d.string(v)
	case reflect.Bool:
		return d.bool(v)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return d.int(v)
	}
	panic("schema: no strict decoding into " + v.Type().String())
}

// null is rule 9. A tolerant decoder puts off what wire.md, 3.8 puts off: null
// for an array, and for a key that may be missing but not null.
func (d *decoder) null(v reflect.Value, rule fieldRule) error {
	if err := d.literal("null"); err != nil {
		return err
	}
	putOff := v.Kind() == reflect.Slice || v.Kind() == reflect.Pointer && rule.optional
	switch {
	case rule.item:
		return d.fault("null may not be an item of an array")
	case d.tolerant && putOff:
		d.note(d.fault("null where none may be"))
		return nil
	case v.Kind() == reflect.Pointer:
		v.SetZero()
		return nil
	}
	return d.fault("null where none may be")
}

func (d *decoder) note(err error) {
	if d.late == nil {
		d.late = err
	}
}

func (d *decoder) unmarshaler(into json.Unmarshaler) error {
	start := d.pos
	if err := d.skipValue(); err != nil {
		return err
	}
	if err := into.UnmarshalJSON(d.data[start:d.pos]); err != nil {
		return d.fault("%v", err)
	}
	return nil
}

func (d *decoder) object(v reflect.Value) error {
	if !d.take('{') {
		return d.fault("an object is expected")
	}
	shape := shapeOf(v.Type())
	var seen uint64
	if !d.take('}') {
		for more := true; more; more = d.take(',') {
			i, err := d.field(shape, seen)
			if err != nil {
				return err
			}
			seen |= 1 << i
			field := &shape.fields[i]
			if err := d.value(v.FieldByIndex(field.index), field.rule); err != nil {
				return err
			}
		}
		if !d.take('}') {
			return d.fault("an object goes on without a comma or does not end")
		}
	}
	if missing := shape.required &^ seen; d.tolerant && missing != 0 {
		d.note(d.fault("the key %q is missing", shape.firstOf(missing)))
	}
	return nil
}

// field takes a key and its colon and returns the number of the field.
func (d *decoder) field(shape *structShape, seen uint64) (int, error) {
	if d.peek() != '"' {
		return 0, d.fault("a key is missing")
	}
	key, err := d.text()
	if err != nil {
		return 0, err
	}
	i, known := shape.byName[string(key)]
	switch {
	case !known:
		return 0, d.fault("unknown key %s", shorten(key))
	case seen&(1<<i) != 0:
		return 0, d.fault("the key %s stands twice in an object", shorten(key))
	case !d.take(':'):
		return 0, d.fault("a colon is missing after the key %s", shorten(key))
	}
	return i, nil
}

func (d *decoder) array(v reflect.Value, maxItems int) error {
	if !d.take('[') {
		return d.fault("an array is expected")
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	if d.take(']') {
		return nil
	}
	for n, more := 0, true; more; n, more = n+1, d.take(',') {
		if maxItems > 0 && n == maxItems {
			return d.fault("an array has more than %d items", maxItems)
		}
		if n == v.Cap() {
			v.Grow(1)
		}
		v.SetLen(n + 1)
		item := v.Index(n)
		item.SetZero()
		if err := d.value(item, fieldRule{item: true}); err != nil {
			return err
		}
	}
	if !d.take(']') {
		return d.fault("an array goes on without a comma or does not end")
	}
	return nil
}

func (d *decoder) string(v reflect.Value) error {
	if d.peek() != '"' {
		return d.fault("a string is expected")
	}
	text, err := d.scanner.string()
	if err != nil {
		return err
	}
	v.SetString(text)
	return nil
}

func (d *decoder) bool(v reflect.Value) error {
	switch d.peek() {
	case 't':
		v.SetBool(true)
		return d.literal("true")
	case 'f':
		v.SetBool(false)
		return d.literal("false")
	}
	return d.fault("true or false is expected")
}

func (d *decoder) int(v reflect.Value) error {
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		return d.fault("an integer is expected")
	}
	spelling, err := d.number()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(spelling), 10, v.Type().Bits())
	if err != nil {
		return d.fault("a number is no integer without fraction and exponent, or does not fit")
	}
	v.SetInt(n)
	return nil
}

// structShape is what the json tags of a struct say.
type structShape struct {
	fields   []fieldShape
	byName   map[string]int
	required uint64 // the fields without omitempty, one bit each
}

type fieldShape struct {
	name  string
	index []int
	rule  fieldRule
}

var shapes sync.Map // reflect.Type to *structShape

func shapeOf(t reflect.Type) *structShape {
	if known, ok := shapes.Load(t); ok {
		return known.(*structShape)
	}
	shape := &structShape{byName: map[string]int{}}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" || !field.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		i := len(shape.fields)
		rule := fieldRule{optional: strings.Contains(options, "omitempty"), maxItems: maxItems(field)}
		shape.fields = append(shape.fields, fieldShape{name: name, index: field.Index, rule: rule})
		shape.byName[name] = i
		if !rule.optional {
			shape.required |= 1 << i
		}
	}
	if len(shape.fields) > 64 {
		panic(fmt.Sprintf("schema: %v has more than 64 keys", t))
	}
	known, _ := shapes.LoadOrStore(t, shape)
	return known.(*structShape)
}

// maxItems reads the tag that bounds an array before its items take memory.
func maxItems(field reflect.StructField) int {
	tag, given := field.Tag.Lookup("max")
	if !given {
		return 0
	}
	n, err := strconv.Atoi(tag)
	if err != nil || n < 1 {
		panic("schema: malformed max tag of " + field.Name)
	}
	return n
}

func (s *structShape) firstOf(bits uint64) string {
	for i := range s.fields {
		if bits&(1<<i) != 0 {
			return s.fields[i].name
		}
	}
	return ""
}
