"""The system of record: tables, migrations, and one repository per noun. Nothing else in Citewell writes SQL."""
