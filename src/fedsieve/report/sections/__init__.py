"""What a report shows, one file for each part: from records to plain values and words, which pages only draw."""
